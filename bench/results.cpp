// Comparisons and the answer of a session.
#include "bench/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "bench/statistics.h"

namespace parbench {
namespace {

/// Of a speedup or a metric; a single round gives no interval but the value itself.
CaseOutcome::Ratio ratio_of(const auto& measured) {
  const double value = measured.value;
  const auto interval = measured.interval.value_or(report::Interval{value, value, 0});
  return {value, interval.low, interval.high};
}

CaseOutcome outcome_of(const CaseSpec& spec, const report::Case& measured) {
  CaseOutcome outcome;
  outcome.spec = spec;
  outcome.median_seconds = measured.statistics->median;
  if (measured.bound) outcome.efficiency = measured.bound->efficiency;
  if (measured.speedup) outcome.speedup = ratio_of(*measured.speedup);
  for (const report::Metric& metric : measured.metrics) {
    outcome.metrics.emplace(metric.name, ratio_of(metric));
  }
  return outcome;
}

/// The cases that a metric needs, the one it belongs to first; nothing when the session lacks one.
std::optional<std::vector<std::size_t>> cases_of(const Metric& metric,
                                                 const std::vector<CaseSpec>& specs,
                                                 std::size_t index) {
  std::vector<std::size_t> found{index};
  for (const CaseSpec& other : metric.others) {
    const auto place = std::ranges::find(specs, other.name(), &CaseSpec::name);
    if (place == specs.end()) return std::nullopt;
    found.push_back(static_cast<std::size_t>(place - specs.begin()));
  }
  return found;
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

std::vector<std::size_t> compared_with(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                                       std::size_t index) {
  std::vector<std::size_t> others;
  if (const auto baseline = baseline_of(scenario, specs, index)) others.push_back(*baseline);
  for (const Metric& metric : scenario.metrics(specs[index])) {
    const auto needed = cases_of(metric, specs, index);
    if (needed) others.insert(others.end(), needed->begin() + 1, needed->end());
  }
  return others;
}

std::vector<report::Metric> metrics_of(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                                       const std::vector<report::Case>& cases, std::size_t index) {
  std::vector<report::Metric> metrics;
  for (const Metric& metric : scenario.metrics(specs[index])) {
    const auto needed = cases_of(metric, specs, index);
    if (!needed) continue;
    std::vector<Samples> samples;
    for (const std::size_t i : *needed) samples.emplace_back(cases[i].samples);
    const auto median = paired_median(samples, metric.value);
    if (median) metrics.push_back({metric.name, median->value, median->interval});
  }
  return metrics;
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
