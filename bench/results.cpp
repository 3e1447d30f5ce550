// Names, comparisons and the answer of a session.
#include "bench/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace parbench {
namespace {

report::NamedValues named_values(const Parameters& parameters) {
  report::NamedValues values;
  for (const Parameter& parameter : parameters) {
    values.emplace_back(parameter.name, parameter.value);
  }
  return values;
}

bool is_baseline_of(const CaseSpec& candidate, const CaseSpec& spec, std::string_view baseline) {
  if (candidate.strategy != baseline || spec.strategy == baseline) return false;
  if (candidate.dtype != spec.dtype) return false;
  return std::ranges::all_of(candidate.parameters, [&](const Parameter& parameter) {
    const Value* value = spec.parameters.find(parameter.name);
    return value != nullptr && *value == parameter.value;
  });
}

CaseOutcome outcome_of(const CaseSpec& spec, const report::Case& measured) {
  CaseOutcome outcome{spec, measured.statistics->median, std::nullopt,
                      measured.bound ? measured.bound->efficiency : 0};
  if (measured.speedup) {
    const double value = measured.speedup->value;
    const auto interval = measured.speedup->interval.value_or(report::Interval{value, value, 0});
    outcome.speedup = {value, interval.low, interval.high};
  }
  return outcome;
}

}  // namespace

report::Case described(const CaseSpec& spec) {
  report::Case result;
  result.name = spec.name();
  result.scenario = spec.scenario;
  result.strategy = spec.strategy;
  result.parameters = named_values(spec.parameters);
  result.hidden_parameters = named_values(spec.hidden);
  result.dtype = std::string(to_string(spec.dtype));
  return result;
}

std::optional<std::size_t> baseline_of(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                                       std::size_t index) {
  if (!scenario.comparable(specs[index])) return std::nullopt;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (is_baseline_of(specs[i], specs[index], scenario.baseline())) return i;
  }
  return std::nullopt;
}

std::optional<report::Answer> answer_of(const Scenario& scenario,
                                        const std::vector<CaseSpec>& specs,
                                        const std::vector<report::Case>& cases) {
  std::vector<CaseOutcome> outcomes;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (cases[i].status != report::CaseStatus::measured) continue;
    outcomes.push_back(outcome_of(specs[i], cases[i]));
  }
  if (outcomes.empty()) return std::nullopt;
  std::string text;
  try {
    text = scenario.answer(outcomes);
  } catch (const std::exception& error) {
    text = fmt::format("The measurements stand, but no answer could be drawn: {}", error.what());
  }
  return report::Answer{std::string(scenario.name()), std::string(scenario.question()),
                        std::move(text)};
}

}  // namespace parbench
