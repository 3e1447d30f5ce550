// Statistics of samples as pure functions: location, spread, and intervals that assume no
// distribution.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// These need at least one value and throw std::invalid_argument otherwise.
[[nodiscard]] double median(std::span<const double> values);
/// Where the median is among them, the lower of two in the middle.
[[nodiscard]] std::size_t median_place(std::span<const double> values);
/// Where the value nearest to `target` is among them, the first of several.
[[nodiscard]] std::size_t nearest_place(std::span<const double> values, double target);
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
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values,
                                                      double confidence = wanted_confidence);

/// Half the interval's width over the value it surrounds; infinite when that is zero and the
/// interval is not.
[[nodiscard]] double relative_half_width(const Interval& interval, double value);

[[nodiscard]] std::vector<double> seconds_of(std::span<const report::Sample> samples);

[[nodiscard]] report::Statistics summarise(std::span<const double> seconds);

/// The samples of one case.
using Samples = std::span<const report::Sample>;

/// The median of each process's samples, in the order of the processes.
[[nodiscard]] std::vector<double> process_medians(Samples samples);

/// Where several processes took the samples, the median is that of their medians, and so is its
/// interval: samples of one process are not independent. Everything
/// else is of all samples.
[[nodiscard]] report::Statistics summarise(Samples samples);

/// A median over rounds, or over the medians of several processes, with its interval.
struct PairedMedian {
  double value = 0;
  std::optional<Interval> interval;
};

/// Makes one number of the seconds that several cases took in one round. `medians` are those of the
/// same cases over all rounds of the process that are combined: for a choice that must be the same
/// in every round.
using CombineRound =
    std::function<double(std::span<const double> seconds, std::span<const double> medians)>;

/// Returns what `combine` makes of one sample of each case, for each round in which all cases were
/// sampled; where several processes have such rounds, the median of each process instead. Empty
/// where a value is not finite.
[[nodiscard]] std::vector<double> paired_values(std::span<const Samples> cases,
                                                const CombineRound& combine);

/// Median of what `combine` makes of one sample of each case, over the rounds in which all cases
/// were sampled; their seconds come in the order of the cases. Where several processes have such
/// rounds, the median of their medians, with the interval of that. Nothing without such a round,
/// and nothing where a value is not finite.
[[nodiscard]] std::optional<PairedMedian> paired_median(std::span<const Samples> cases,
                                                        const CombineRound& combine);

/// Median of baseline/case over rounds in which both were sampled, with the geometric mean of the
/// middle two: exchanged sides have the inverse. The spans are paired by index. Nothing without
/// pairs or with a case that took no time.
[[nodiscard]] std::optional<PairedMedian> paired_ratio(std::span<const double> baseline_seconds,
                                                       std::span<const double> case_seconds);

/// The same from raw samples, paired by the round they were taken in.
[[nodiscard]] std::optional<PairedMedian> paired_ratio(Samples baseline, Samples samples);

}  // namespace parbench
