// Whether overlapping pays in each setting, and how much of the shorter part it hides.
#include "scenarios/overlap/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

constexpr std::string_view baseline_strategy = "sequential";

std::int64_t prefetch_of(const CaseSpec& spec) {
  return spec.strategy == baseline_strategy ? -1 : spec.parameters.integer("prefetch");
}

std::string label_of(const CaseSpec& spec) {
  if (spec.strategy == baseline_strategy) return "one after the other";
  return fmt::format("prefetch {}", prefetch_of(spec));
}

/// "75% (73–77%) hidden"; empty where that is not known. No overlap is shown by a fraction that is
/// not above zero, nor by an interval that holds zero.
std::string hidden_text(const CaseOutcome& overlapped) {
  const auto found = overlapped.metrics.find(achieved_overlap);
  if (found == overlapped.metrics.end()) return {};
  const report::Ratio& hidden = found->second;
  const bool shown = hidden.interval ? hidden.above(0) : hidden.value > 0;
  return fmt::format("{}{} hidden", shown ? "" : "no overlap shown, ", percent_text(hidden));
}

std::string sentence(const report::Recommendation& found) {
  const std::string hidden =
      found.remark.empty() ? "" : fmt::format("; of the shorter part {}", found.remark);
  const std::string gain = ratio_text(*found.gain);
  if (found.pays) {
    return fmt::format("Overlap with {}: {} one after the other{}.{}", found.gaining->label, gain,
                       hidden, rivals_text(found));
  }
  return fmt::format("Overlapping {}: {} reaches {} one after the other{}.", no_gain_text(found),
                     found.gaining->label, gain, hidden);
}

/// The recommendation with the largest gain.
std::string best_text(const std::vector<report::Recommendation>& found) {
  const auto best = std::ranges::max_element(
      found, {}, [](const report::Recommendation& one) { return one.gain->value; });
  return fmt::format("The largest gain is with {}, {}: {} one after the other.", best->setting,
                     best->gaining->label, ratio_text(*best->gain));
}

}  // namespace

Conclusion overlap_answer(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const auto is_baseline = [](const CaseSpec& spec) { return spec.strategy == baseline_strategy; };
  const Wording wording{
      .label = label_of,
      .simpler = [](const CaseSpec& a,
                    const CaseSpec& b) { return prefetch_of(a) < prefetch_of(b); },
      .is_baseline = is_baseline};
  const Outcomes whole = outcomes_where(outcomes, [&](const CaseOutcome& one) {
    return is_baseline(one.spec) || one.spec.strategy == "overlapped";
  });
  Conclusion made;
  for (const SameWork& group :
       same_work(whole, {"n", "inner", "count", "direction", "memory", "chunk"})) {
    report::Recommendation found = recommend(group, wording, possibly_fastest);
    if (!found.gain) continue;
    const auto gaining = std::ranges::find_if(group.cases, [&](const CaseOutcome* one) {
      return one->spec.name() == found.gaining->name;
    });
    found.remark = hidden_text(**gaining);
    made.recommendations.push_back(std::move(found));
  }
  if (made.recommendations.empty()) {
    made.text =
        "The overlap needs copies and products both one after the other and overlapped; not both "
        "were measured, so there is no answer.";
  } else if (made.recommendations.size() == 1) {
    made.text = sentence(made.recommendations.front());
  } else {
    made.text = fmt::format("Overlapping {}. {}", where_it_pays(made.recommendations, "pays"),
                            best_text(made.recommendations));
  }
  return made;
}

}  // namespace parbench
