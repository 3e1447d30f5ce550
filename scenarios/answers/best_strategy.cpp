// Recommends among strategies by their names.
#include "scenarios/answers/best_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reports/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

/// Whether two cases have different values of a parameter.
bool is_varied(const std::string& parameter, const std::vector<CaseOutcome>& outcomes) {
  const Value* first = nullptr;
  return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
    const Value* value = one.spec.parameters.find(parameter);
    if (first == nullptr) first = value;
    return value != nullptr && *value != *first;
  });
}

/// "streams", or "streams with count 4" where cases differ in a parameter that other strategies
/// have not.
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

std::string sentence(const report::Recommendation& found, std::string_view baseline) {
  const std::string gain = fmt::format("{} {}", report::format_ratio(*found.gain), baseline);
  if (found.pays) {
    return at_setting(found,
                      fmt::format("Use {}: {}.{}", found.gaining->label, gain, rivals_text(found)));
  }
  return at_setting(found, fmt::format("Use {}: {} {}, {}.", found.candidates.front().label,
                                       found.gaining->label, to_string(payoff_of(found)), gain));
}

std::string sentence(const std::vector<report::Recommendation>& found, std::string_view baseline) {
  if (const report::Recommendation* only = only_one_that_pays(found)) {
    return sentence(*only, baseline) +
           elsewhere_text(found, fmt::format("Otherwise use {}: another strategy", baseline),
                          "pays");
  }
  const report::Recommendation& best = best_of(found);
  const std::string gain = fmt::format("{} with {} at {}", report::format_ratio(*best.gain),
                                       best.gaining->label, best.setting);
  if (best.pays) {
    return fmt::format("A strategy other than {} {}; largest recommended gain: {}.", baseline,
                       where_it_pays(found, "pays"), gain);
  }
  return fmt::format("Use {}: another strategy {}; nearest to paying: {}.",
                     best.candidates.front().label, where_it_pays(found, "pays"), gain);
}

/// Of strategies that use several devices: those that share one have no such limit.
std::string superlinear_text_of(const report::Recommendation& found, const Outcomes& outcomes) {
  const CaseOutcome* gaining = find_outcome(outcomes, found.gaining->name);
  if (gaining == nullptr || gaining->spec.parameters.find(devices_parameter) == nullptr) return {};
  return superlinear_text(found, devices_of(gaining->spec),
                          "each device's part fits its caches better, or the baseline was "
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
  const Wording wording{
      .label = label,
      .simpler = [&](const CaseSpec& a, const CaseSpec& b) { return rank(a) < rank(b); },
      .is_baseline = [&](const CaseSpec& spec) { return spec.strategy == scenario.baseline(); }};
  const Outcomes all = outcomes_where(outcomes, [](const CaseOutcome&) { return true; });
  Conclusion made;
  auto [recommendations, not_compared] = recommend_each(all, common, wording, possibly_fastest);
  made.recommendations = std::move(recommendations);
  if (made.recommendations.empty()) {
    return {.text = no_comparison_text(scenario.baseline(), "strategy",
                                       std::ranges::any_of(outcomes,
                                                           [&](const CaseOutcome& one) {
                                                             return one.spec.strategy ==
                                                                    scenario.baseline();
                                                           })),
            .is_answered = false};
  }
  made.text = joined_sentences({made.recommendations.size() == 1
                                    ? sentence(made.recommendations.front(), scenario.baseline())
                                    : sentence(made.recommendations, scenario.baseline()),
                                superlinear_text_of(best_of(made.recommendations), all),
                                not_compared_text(not_compared)});
  return made;
}

}  // namespace parbench
