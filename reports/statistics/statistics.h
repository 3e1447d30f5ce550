// Location, spread and distribution-free intervals of samples, as pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// Returns the median. Throws std::invalid_argument for no values, like all functions up to
/// `median_absolute_deviation`.
[[nodiscard]] double median(std::span<const double> values);
/// Returns the index of the median; for an even number of values, of the lower of the two in the
/// middle.
[[nodiscard]] std::size_t median_index(std::span<const double> values);
/// Returns the index of the value nearest to `target`, the first of several.
[[nodiscard]] std::size_t nearest_index(std::span<const double> values, double target);
[[nodiscard]] double mean(std::span<const double> values);

/// Returns the standard deviation with n − 1 in the denominator; 0 for a single value.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// Returns the median of the distances from the median, unscaled.
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

/// Returns a confidence interval for the median of the values' distribution, without assumptions on
/// that distribution: the closest pair of order statistics, symmetric in rank, whose confidence 1 −
/// 2·P(Binomial(n, 1/2) < rank) is at least `confidence`. With too few values, the interval from
/// min to max, whose confidence 1 − 2^(1−n) is lower than requested. Nothing with fewer than two
/// values.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values,
                                                      double confidence = wanted_confidence);

/// Returns half the interval's width over `value`: 0 for no width, else infinite for a value of 0.
[[nodiscard]] double relative_half_width(const Interval& interval, double value);

[[nodiscard]] std::vector<double> seconds_of(std::span<const report::Sample> samples);

[[nodiscard]] report::Statistics summarise(std::span<const double> seconds);

/// The samples of one case.
using Samples = std::span<const report::Sample>;

/// Returns the median of each process's samples, in the order of the processes.
[[nodiscard]] std::vector<double> process_medians(Samples samples);

/// Summarises samples. If several processes took them, the median and its interval are those of the
/// processes' medians, because samples of one process are not independent.
[[nodiscard]] report::Statistics summarise(Samples samples);

/// A median over rounds, or over the medians of several processes, with its interval.
struct PairedMedian {
  double value = 0;
  std::optional<Interval> interval;
};

/// Function that combines the seconds of several cases in one round into one number. `medians`: the
/// medians of the same cases over all rounds of the process, for choices that must be equal in all
/// rounds.
using CombineRound =
    std::function<double(std::span<const double> seconds, std::span<const double> medians)>;

/// Returns the combined number of each round in which all cases were sampled; if several processes
/// have such rounds, the median of each process instead. Empty if a value is not finite.
[[nodiscard]] std::vector<double> paired_values(std::span<const Samples> cases,
                                                const CombineRound& combine);

/// Returns the median of the combined numbers over the rounds in which all cases were sampled.
/// `combine` gets the seconds in the order of the cases. If several processes have such rounds: the
/// median of their medians, with its interval. Nothing without such a round or if a value is not
/// finite.
[[nodiscard]] std::optional<PairedMedian> paired_median(std::span<const Samples> cases,
                                                        const CombineRound& combine);

/// Returns the median of baseline/case over the rounds in which both were sampled, with the
/// geometric mean of the middle two: swapping the sides gives the inverse. The spans are paired by
/// index. Nothing without pairs or if the case took no time in a pair.
[[nodiscard]] std::optional<PairedMedian> paired_ratio(std::span<const double> baseline_seconds,
                                                       std::span<const double> case_seconds);

/// Returns the same for the samples of a baseline and a case, paired by round; with several
/// processes, over the medians of the processes.
[[nodiscard]] std::optional<PairedMedian> paired_ratio(Samples baseline, Samples samples);

}  // namespace parbench
