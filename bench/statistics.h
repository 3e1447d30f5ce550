// Statistics of samples as pure functions: location, spread, and intervals that assume no
// distribution.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reports/report.h"

namespace parbench {

/// These need at least one value and throw std::invalid_argument otherwise.
[[nodiscard]] double median(std::span<const double> values);
[[nodiscard]] double mean(std::span<const double> values);

/// With n − 1 in the denominator; 0 for a single value.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// Median of the distances from the median, unscaled.
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

/// An interval that holds the median of the distribution the values were drawn from, whatever that
/// distribution is: two order statistics, symmetric in rank, the closest pair whose confidence
/// 1 − 2·P(Binomial(n, 1/2) < rank) reaches `confidence`. With too few values for that it is least
/// to most, and the confidence it reports, 1 − 2^(1−n), is below what was asked for. Nothing with
/// fewer than two values.
[[nodiscard]] std::optional<report::Interval> median_interval(std::span<const double> values,
                                                              double confidence = 0.95);

/// Half the interval's width over the value it surrounds; infinite when that is zero and the
/// interval is not.
[[nodiscard]] double relative_half_width(const report::Interval& interval, double value);

[[nodiscard]] std::vector<double> seconds_of(std::span<const report::Sample> samples);

[[nodiscard]] report::Statistics summarise(std::span<const double> seconds);

/// Median of baseline/case over rounds in which both were sampled, with its interval. The spans
/// are paired by index. Nothing without pairs or with a case that took no time.
struct PairedRatio {
  double value = 0;
  std::optional<report::Interval> interval;
};
[[nodiscard]] std::optional<PairedRatio> paired_ratio(std::span<const double> baseline_seconds,
                                                      std::span<const double> case_seconds);

/// The same from raw samples, paired by the round they were taken in.
[[nodiscard]] std::optional<PairedRatio> paired_ratio(std::span<const report::Sample> baseline,
                                                      std::span<const report::Sample> samples);

}  // namespace parbench
