// States whether overlapping pays in each setting, and how much of the shorter part it hides.
#include "scenarios/overlap/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

constexpr std::string_view baseline_strategy = "sequential";
constexpr std::string_view baseline_label = "no overlap";
constexpr std::string_view baseline_words = "without overlap";

std::int64_t prefetch_of(const CaseSpec& spec) {
  return spec.strategy == baseline_strategy ? -1 : spec.parameters.integer("prefetch");
}

std::string label_of(const CaseSpec& spec) {
  if (spec.strategy == baseline_strategy) return std::string(baseline_label);
  return fmt::format("prefetch {}", prefetch_of(spec));
}

/// Returns "75% (73–77%) of the shorter of copies and products is hidden"; empty if unknown. A
/// fraction that is not above zero, or whose interval contains zero, does not show any overlap.
std::string hidden_text(const CaseOutcome& overlapped) {
  const auto found = overlapped.metrics.find(achieved_overlap);
  if (found == overlapped.metrics.end()) return {};
  const Ratio& hidden = found->second;
  const bool shown = hidden.interval ? hidden.above(0) : hidden.value > 0;
  return fmt::format("{}{} of the shorter of copies and products{}",
                     shown ? "" : "no overlap is shown: ", format_percent(hidden),
                     shown ? " is hidden" : "");
}

/// Returns the sentences about one setting, the most important first.
std::vector<std::string> sentences(const Recommendation& found) {
  const std::string hidden = found.remark.empty() ? "" : "; " + found.remark;
  if (payoff_of(found) < Payoff::may_pay) {
    return {
        at_setting(found, keep_text(found, payoff_clause(found, "overlapping", "pays"), hidden))};
  }
  return {at_setting(found, use_text(found, baseline_words, hidden)), tie_text(found),
          open_text(found)};
}

std::vector<std::string> sentences(const std::vector<Recommendation>& found) {
  if (found.size() == 1) return sentences(found.front());
  if (const Recommendation* only = only_one_that_pays(found)) {
    return {sentences(*only).front(), elsewhere_text(found, "Overlapping", "pays")};
  }
  const Recommendation& best = best_of(found);
  const bool names_best = payoff_of(best) >= Payoff::may_pay && !best.remark.empty();
  return {fmt::format("{}{}.", verdict_text(found, "Overlapping", "pays"),
                      best_text(found, baseline_words)),
          names_best ? fmt::format("There {}.", best.remark) : ""};
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
    // Without prefetched matrices nothing overlaps, so a gain has another cause.
    return is_baseline(one.spec) ||
           (one.spec.strategy == "overlapped" && prefetch_of(one.spec) > 0);
  });
  Recommended all;
  for (const SameWork& group :
       same_work(whole, {"n", "inner", "count", "direction", "memory", "chunk"})) {
    Recommendation found = recommend(group, wording, possibly_fastest);
    if (found.gain) {
      const auto gaining = std::ranges::find_if(group.cases, [&](const CaseOutcome* one) {
        return one->spec.name() == found.gaining->name;
      });
      found.remark = hidden_text(**gaining);
    }
    all.add(std::move(found));
  }
  if (all.recommendations.empty()) {
    return {.text =
                "Not decided: copies and products one after the other (sequential) and "
                "overlapped with --prefetch 1 or more were not both measured.",
            .is_answered = false};
  }
  std::vector<std::string> text = sentences(all.recommendations);
  text.push_back(not_compared_text(all.not_compared));
  return {joined_sentences(text), std::move(all.recommendations)};
}

}  // namespace parbench
