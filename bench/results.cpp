// Comparisons and the answer of a session.
#include "bench/results.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

namespace parbench {
namespace {

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

std::optional<std::size_t> baseline_of(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                                       std::size_t index) {
  if (!scenario.comparable(specs[index])) return std::nullopt;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (scenario.is_baseline_of(specs[i], specs[index])) return i;
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
