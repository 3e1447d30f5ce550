// Labels cases by their strategies, and recommends one.
#include "scenarios/answers/best_strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/answers/device_words.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

/// Returns whether both cases have the same value of a parameter, or both lack it.
bool are_equal_in(std::string_view name, const CaseSpec& a, const CaseSpec& b) {
  const Value* of_a = a.parameters.find(name);
  const Value* of_b = b.parameters.find(name);
  return (of_a == nullptr) == (of_b == nullptr) && (of_a == nullptr || *of_a == *of_b);
}

/// Explains a gain that exceeds the number of devices; empty for smaller gains, and for strategies
/// without a parameter `devices`.
std::string superlinear_text_of(const Recommendation& found, const Outcomes& outcomes,
                                const StrategyWords& words) {
  const CaseOutcome* gaining = find_outcome(outcomes, found.gaining->name);
  if (gaining == nullptr || gaining->spec.parameters.find(devices_parameter) == nullptr) return {};
  const bool in_turn = words.works_in_turn && words.works_in_turn(gaining->spec);
  return superlinear_text(found, in_turn ? 1 : devices_in(gaining->spec.parameters),
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

std::string strategy_label(const Scenario& scenario, const Outcomes& outcomes, const CaseSpec& spec,
                           const StrategyWords& words) {
  if (uses_all_cores(spec)) return whole_device_text(outcomes);
  if (spec.strategy == scenario.baseline()) {
    return spec.strategy == "single" ? one_device_text(outcomes, spec.strategy) : spec.strategy;
  }
  const std::vector<std::string_view> common = common_axes(scenario);
  Outcomes alike = outcomes_where(outcomes, [&](const CaseSpec& other) {
    return other.strategy == spec.strategy &&
           std::ranges::all_of(
               common, [&](std::string_view name) { return are_equal_in(name, other, spec); });
  });
  const Value* name = spec.parameters.find(words.named_by);
  std::string label =
      name == nullptr ? spec.strategy : fmt::format("{}{}", words.name_words, to_string(*name));
  std::string_view separator = " with ";
  for (const Parameter& one : spec.parameters) {
    const auto axis = std::ranges::find(scenario.axes(), one.name, &Axis::name);
    if (axis == scenario.axes().end() || axis->strategies.empty()) continue;
    const std::size_t before = alike.size();
    std::erase_if(alike,
                  [&](const auto* other) { return !are_equal_in(one.name, other->spec, spec); });
    const bool is_varied = alike.size() < before;
    if (one.name == words.named_by || (one.implied && !is_varied)) continue;
    label += fmt::format("{}{} {}", separator, one.name, to_string(one.value));
    separator = ", ";
  }
  return label;
}

Conclusion best_strategy(const Scenario& scenario, const Outcomes& outcomes,
                         const PossiblyFastest& possibly_fastest, const StrategyWords& words) {
  const auto label = [&](const CaseSpec& spec) {
    return strategy_label(scenario, outcomes, spec, words);
  };
  const auto complexity = [&](const CaseSpec& spec) {
    std::vector<std::int64_t> numbers;
    if (words.complexity) numbers = words.complexity(spec);
    const auto& strategies = scenario.strategies();
    const auto found = std::ranges::find(strategies, spec.strategy, &Strategy::name);
    numbers.insert(numbers.begin(), found - strategies.begin());
    return numbers;
  };
  const Wording wording{label, complexity, scenario.baseline()};
  const auto [found, not_compared] =
      recommend_each(outcomes, common_axes(scenario), wording, possibly_fastest);
  const CaseSpec baseline_case{
      .scenario = {}, .strategy = std::string(scenario.baseline()), .parameters = {}, .hidden = {}};
  const std::string baseline = label(baseline_case);
  if (found.empty()) {
    const bool has_baseline = has_case(
        outcomes, [&](const CaseSpec& spec) { return spec.strategy == scenario.baseline(); });
    return {.text = no_comparison_text(baseline, "strategy", has_baseline), .is_answered = false};
  }
  std::vector<std::string> text = verdict_sentences(
      found, {}, baseline,
      [&](const Recommendation& one) {
        return words.details ? words.details(one, outcomes) : std::string();
      },
      found.size() == 1 ? whole_device_comparison(outcomes, found.front(), label) : "");
  text.push_back(superlinear_text_of(best_of(found), outcomes, words));
  text.push_back(not_compared_text(not_compared));
  if (words.remark) text.push_back(words.remark(outcomes));
  return {joined_sentences(text), found};
}

}  // namespace parbench
