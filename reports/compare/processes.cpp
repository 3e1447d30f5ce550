// Medians of processes, and the components of the variance of their difference.
#include "reports/compare/processes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "reports/statistics/statistics.h"

namespace parbench::compare {
namespace {

/// A component of the variance of a difference, estimated independently of the others.
struct Component {
  double variance = 0;
  double degrees_of_freedom = 1;
};

/// Returns an estimate with the sum of the components' variances and Satterthwaite's degrees of
/// freedom: (Σv)² / Σ(v²/ν).
Estimate sum_of(double log_ratio, std::span<const Component> components) {
  double variance = 0;
  double squares = 0;
  for (const Component& part : components) {
    variance += part.variance;
    squares += part.variance * part.variance / part.degrees_of_freedom;
  }
  const double infinite = std::numeric_limits<double>::infinity();
  return {log_ratio, variance, squares > 0 ? variance * variance / squares : infinite};
}

bool is_single(const Processes& side) { return side.log_medians.size() == 1; }

double spread_of(const Processes& side) { return standard_deviation(side.log_medians); }

/// Estimates σ by the median absolute deviation, which outliers hardly affect. Falls back to the
/// standard deviation if the former is zero, because a coarse clock makes most samples equal.
double spread_of_samples(const std::vector<double>& seconds) {
  constexpr double normal_sigma_of_mad = 1.482602218505602;  // 1 / (0.75 quantile of N(0, 1))
  const double deviation = median_absolute_deviation(seconds);
  return deviation > 0 ? normal_sigma_of_mad * deviation : standard_deviation(seconds);
}

}  // namespace

Processes processes_of(const report::CaseResult& c) {
  Processes processes;
  for (const double seconds : process_medians(c.samples)) {
    processes.log_medians.push_back(std::log(seconds));
  }
  if (!is_single(processes)) return processes;
  const std::vector<double> values = seconds_of(c.samples);
  const double sigma = spread_of_samples(values) / median(values);
  const auto count = static_cast<double>(values.size());
  processes.sampling_variance = std::numbers::pi / 2 * sigma * sigma / count;
  processes.sampling_degrees_of_freedom = std::max(1.0, count - 1);
  processes.has_variance = values.size() >= min_samples;
  return processes;
}

Estimate estimate_change(const Processes& base, const Processes& now,
                         const AssumedSpread& assumed) {
  std::vector<Component> components;
  double singles = 0;
  AssumedSpread spread = assumed;
  for (const Processes* side : {&base, &now}) {
    const auto count = static_cast<double>(side->log_medians.size());
    if (is_single(*side)) {
      components.push_back({side->sampling_variance, side->sampling_degrees_of_freedom});
      ++singles;
    } else {
      const double own = spread_of(*side);
      components.push_back({own * own / count, count - 1});
      if (own > spread.deviation) spread = {.deviation = own};
    }
  }
  // A single component for both sides, because they share the assumption: two components would
  // count as independent estimates.
  components.push_back({singles * spread.deviation * spread.deviation, spread.degrees_of_freedom});
  return sum_of(mean(now.log_medians) - mean(base.log_medians), components);
}

}  // namespace parbench::compare
