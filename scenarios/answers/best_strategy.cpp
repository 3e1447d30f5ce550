// Recommends a strategy by name.
#include "scenarios/answers/best_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/base/units/units.h"
#include "scenarios/answers/device_words.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

/// Returns whether a parameter has different values in two of the cases.
bool is_varied(const std::string& parameter, const std::vector<CaseOutcome>& outcomes) {
  const Value* first = nullptr;
  return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
    const Value* value = one.spec.parameters.find(parameter);
    if (first == nullptr) first = value;
    return value != nullptr && *value != *first;
  });
}

/// Returns "streams", or "streams with count 4" if cases differ in a parameter that other
/// strategies lack.
std::string label_of(const CaseSpec& spec, const std::vector<std::string_view>& common,
                     const std::vector<CaseOutcome>& outcomes) {
  std::string label = spec.strategy;
  std::string_view separator = " with ";
  for (const Parameter& one : spec.parameters) {
    if (std::ranges::find(common, one.name) != common.end()) continue;
    if (!is_varied(one.name, outcomes)) continue;
    label += fmt::format("{}{} {}", separator, one.name, to_string(one.value));
    separator = ", ";
  }
  return label;
}

/// Returns the name of the baseline for sentences.
std::string baseline_text(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes) {
  if (scenario.baseline() != "single") return std::string(scenario.baseline());
  return one_device_text(outcomes, scenario.baseline());
}

/// Returns the sentence for a recommended baseline.
std::string_view no_other_text(Payoff payoff) {
  if (payoff == Payoff::does_not_pay) return "no other strategy pays";
  return payoff == Payoff::gains_little ? "no other strategy gains 3% or more"
                                        : "no other strategy shows a gain";
}

/// Returns the sentences about one setting, the most important first.
std::vector<std::string> sentences(const Recommendation& found, std::string_view baseline,
                                   const std::string& whole_device) {
  if (payoff_of(found) < Payoff::may_pay) {
    return {at_setting(found, keep_text(found, no_other_text(payoff_of(found)))), whole_device};
  }
  return {at_setting(found, use_text(found, baseline)), tie_text(found), whole_device,
          open_text(found)};
}

std::vector<std::string> sentences(const std::vector<Recommendation>& found,
                                   std::string_view baseline, const std::string& whole_device) {
  if (found.size() == 1) return sentences(found.front(), baseline, whole_device);
  if (const Recommendation* only = only_one_that_pays(found)) {
    return {at_setting(*only, use_text(*only, baseline)),
            elsewhere_text(found, "Another strategy", "pays")};
  }
  const std::string none = no_verdict_text(found);
  return {fmt::format(
      "{}{}.",
      none.empty() ? "Another strategy " + where_it_pays(found, "pays") : with_capital(none),
      best_text(found, baseline))};
}

/// Explains a superlinear gain of strategies that use several devices. Strategies that share a
/// device have no such limit.
std::string superlinear_text_of(const Recommendation& found, const Outcomes& outcomes) {
  const CaseOutcome* gaining = find_outcome(outcomes, found.gaining->name);
  if (gaining == nullptr || gaining->spec.parameters.find(devices_parameter) == nullptr) return {};
  return superlinear_text(found, devices_of(gaining->spec),
                          uses_all_cores(gaining->spec)
                              ? "data stays in the caches of one device, or the baseline was "
                                "disturbed"
                              : "each device's part fits its caches better, or the baseline was "
                                "disturbed");
}

}  // namespace

std::vector<std::string_view> common_axes(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const Axis& axis : scenario.axes()) {
    if (axis.identity && axis.strategies.empty()) names.emplace_back(axis.name);
  }
  return names;
}

Conclusion best_strategy(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  return best_strategy(scenario, outcomes, possibly_fastest, [&](const CaseSpec& spec) {
    return label_of(spec, common_axes(scenario), outcomes);
  });
}

Conclusion best_strategy(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest,
                         const std::function<std::string(const CaseSpec&)>& label) {
  const std::vector<std::string_view> common = common_axes(scenario);
  const auto rank = [&](const CaseSpec& spec) {
    return std::ranges::find(scenario.strategies(), spec.strategy, &Strategy::name);
  };
  const auto is_baseline = [&](const CaseSpec& spec) {
    return spec.strategy == scenario.baseline();
  };
  const std::string baseline = baseline_text(scenario, outcomes);
  const Wording wording{
      .label =
          [&](const CaseSpec& spec) {
            if (uses_all_cores(spec)) return whole_device_text(outcomes);
            return is_baseline(spec) ? baseline : label(spec);
          },
      .simpler = [&](const CaseSpec& a, const CaseSpec& b) { return rank(a) < rank(b); },
      .is_baseline = is_baseline};
  const Outcomes all = outcomes_where(outcomes, [](const CaseOutcome&) { return true; });
  Conclusion made;
  auto [recommendations, not_compared] = recommend_each(all, common, wording, possibly_fastest);
  made.recommendations = std::move(recommendations);
  if (made.recommendations.empty()) {
    const bool has_baseline = std::ranges::any_of(
        outcomes, [&](const CaseOutcome& one) { return is_baseline(one.spec); });
    return {.text = no_comparison_text(baseline, "strategy", has_baseline), .is_answered = false};
  }
  const std::string whole_device =
      whole_device_comparison(all, made.recommendations.front(), outcomes, wording.label);
  std::vector<std::string> text = sentences(made.recommendations, baseline, whole_device);
  text.push_back(superlinear_text_of(best_of(made.recommendations), all));
  text.push_back(not_compared_text(not_compared));
  made.text = joined_sentences(text);
  return made;
}

}  // namespace parbench
