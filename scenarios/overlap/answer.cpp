// States whether overlapping pays in each setting, and how much of the shorter part it hides.
#include "scenarios/overlap/answer.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

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
  const Ratio* hidden = overlapped.metric(achieved_overlap);
  if (hidden == nullptr) return {};
  const bool shown = hidden->interval ? hidden->above(0) : hidden->value > 0;
  return fmt::format("{}{} of the shorter of copies and products{}",
                     shown ? "" : "no overlap is shown: ", format_percent(*hidden),
                     shown ? " is hidden" : "");
}

std::vector<std::string> sentences(const std::vector<Recommendation>& found) {
  std::vector<std::string> texts =
      verdict_sentences(found, {"Overlapping"}, baseline_words, [](const Recommendation& one) {
        return one.remark.empty() ? std::string() : "; " + one.remark;
      });
  const Recommendation& best = best_of(found);
  const bool names_best = payoff_of(best) >= Payoff::may_pay && !best.remark.empty();
  if (found.size() > 1 && only_one_that_pays(found) == nullptr && names_best) {
    texts.push_back(fmt::format("There {}.", best.remark));
  }
  return texts;
}

}  // namespace

Conclusion overlap_answer(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const Wording wording{
      .label = label_of,
      .complexity = [](const CaseSpec& spec) { return std::vector{prefetch_of(spec)}; },
      .baseline = baseline_strategy};
  const Outcomes whole = outcomes_where(all_outcomes(outcomes), [&](const CaseSpec& spec) {
    // Without prefetched matrices nothing overlaps, so a gain has another cause.
    return spec.strategy == baseline_strategy ||
           (spec.strategy == "overlapped" && prefetch_of(spec) > 0);
  });
  auto [found, not_compared] = recommend_each(
      whole, {"n", "inner", "count", "direction", "memory", "chunk"}, wording, possibly_fastest);
  for (Recommendation& one : found) {
    one.remark = hidden_text(*find_outcome(whole, one.gaining->name));
  }
  if (found.empty()) {
    return {.text =
                "Not decided: copies and products one after the other (sequential) and "
                "overlapped with --prefetch 1 or more were not both measured.",
            .is_answered = false};
  }
  std::vector<std::string> text = sentences(found);
  text.push_back(not_compared_text(not_compared));
  return {joined_sentences(text), std::move(found)};
}

}  // namespace parbench
