// Computes intervals from order statistics and the binomial distribution of Boost.Math.
#include "reports/statistics/statistics.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace parbench {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double median_of_sorted(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("the median of no values");
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

/// Returns the probability that the median lies between order statistics `rank` and n + 1 − `rank`.
double confidence_of_rank(std::size_t count, std::size_t rank) {
  const boost::math::binomial_distribution<double> below(static_cast<double>(count), 0.5);
  return 1.0 - 2.0 * boost::math::cdf(below, static_cast<double>(rank - 1));
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// Returns the median of ratios: the geometric mean of the middle two, so that inverted ratios have
/// the inverse median.
double median_of_ratios(const std::vector<double>& ratios) {
  const std::vector<double> ordered = sorted(ratios);
  const std::size_t middle = ordered.size() / 2;
  const double below = ordered.size() % 2 == 1 ? ordered[middle] : ordered[middle - 1];
  if (below <= 0) return below;
  return below * std::sqrt(ordered[middle] / below);  // exact if both are equal
}

double median_of_values(const std::vector<double>& values) { return median(values); }

/// Function that returns the median of values or of ratios.
using Middle = double (*)(const std::vector<double>&);

/// Returns the median with its interval; nothing without values or if one is not finite.
std::optional<PairedMedian> finite_middle(const std::vector<double>& values, Middle middle) {
  if (values.empty() || !all_finite(values)) return std::nullopt;
  return PairedMedian{middle(values), median_interval(values)};
}

/// The seconds of all cases, by round.
using Rounds = std::vector<std::vector<double>>;

/// Returns the rounds of each process in which all cases were sampled.
std::map<int, Rounds> common_rounds(std::span<const Samples> cases) {
  struct Round {
    int process = 0;
    std::vector<double> seconds;  // seconds of the cases visited so far
  };
  std::map<int, Round> rounds;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const report::Sample& sample : cases[i]) {
      Round& round = rounds[sample.round];
      round.process = sample.process;
      if (round.seconds.size() == i) round.seconds.push_back(sample.seconds);
    }
  }
  std::map<int, Rounds> common;
  for (auto& [number, round] : rounds) {
    if (round.seconds.size() == cases.size()) {
      common[round.process].push_back(std::move(round.seconds));
    }
  }
  return common;
}

std::vector<double> medians_of_cases(const Rounds& rounds) {
  std::vector<double> medians;
  for (std::size_t i = 0; i < rounds.front().size(); ++i) {
    std::vector<double> seconds;
    seconds.reserve(rounds.size());
    for (const std::vector<double>& round : rounds) seconds.push_back(round[i]);
    medians.push_back(median(seconds));
  }
  return medians;
}

std::vector<double> combined(const Rounds& rounds, const CombineRound& combine) {
  const std::vector<double> medians = medians_of_cases(rounds);
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const std::vector<double>& seconds : rounds) values.push_back(combine(seconds, medians));
  return values;
}

/// Returns the combined seconds of each round; with several processes, the median of each process
/// instead.
std::vector<double> values_by_process(std::span<const Samples> cases, const CombineRound& combine,
                                      Middle middle) {
  const std::map<int, Rounds> processes = common_rounds(cases);
  std::vector<double> middles;
  for (const auto& [process, rounds] : processes) {
    std::vector<double> values = combined(rounds, combine);
    if (!all_finite(values)) return {};
    if (processes.size() == 1) return values;
    middles.push_back(middle(values));
  }
  return middles;
}

double ratio_of(double baseline_seconds, double case_seconds) {
  if (case_seconds <= 0) return std::numeric_limits<double>::infinity();
  return baseline_seconds / case_seconds;
}

}  // namespace

double median(std::span<const double> values) { return median_of_sorted(sorted(values)); }

std::size_t median_index(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("the median of no values");
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(order, middle, {}, [&](std::size_t index) { return values[index]; });
  return *middle;
}

std::size_t nearest_index(std::span<const double> values, double target) {
  if (values.empty()) throw std::invalid_argument("the nearest of no values");
  const auto nearest =
      std::ranges::min_element(values, {}, [&](double value) { return std::abs(value - target); });
  return static_cast<std::size_t>(nearest - values.begin());
}

double mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("the mean of no values");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  const double center = mean(values);
  if (values.size() == 1) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - center));
  return median(distances);
}

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  std::size_t rank = 1;
  while (2 * (rank + 1) <= ordered.size() &&
         confidence_of_rank(ordered.size(), rank + 1) >= confidence) {
    ++rank;
  }
  return Interval{ordered[rank - 1], ordered[ordered.size() - rank],
                  confidence_of_rank(ordered.size(), rank)};
}

double relative_half_width(const Interval& interval, double value) {
  const double half = (interval.high - interval.low) / 2;
  if (half == 0) return 0;
  if (value == 0) return std::numeric_limits<double>::infinity();
  return half / std::abs(value);
}

std::vector<double> seconds_of(std::span<const report::Sample> samples) {
  std::vector<double> seconds;
  seconds.reserve(samples.size());
  for (const report::Sample& sample : samples) seconds.push_back(sample.seconds);
  return seconds;
}

report::Statistics summarise(std::span<const double> seconds) {
  report::Statistics result;
  result.median = median(seconds);
  result.median_interval = median_interval(seconds);
  result.mean = mean(seconds);
  result.standard_deviation = standard_deviation(seconds);
  result.median_absolute_deviation = median_absolute_deviation(seconds);
  result.min = *std::ranges::min_element(seconds);
  result.max = *std::ranges::max_element(seconds);
  return result;
}

std::vector<double> process_medians(Samples samples) {
  std::map<int, std::vector<double>> processes;
  for (const report::Sample& sample : samples) processes[sample.process].push_back(sample.seconds);
  std::vector<double> medians;
  for (const auto& [process, seconds] : processes) medians.push_back(median(seconds));
  return medians;
}

report::Statistics summarise(Samples samples) {
  report::Statistics result = summarise(seconds_of(samples));
  const std::vector<double> medians = process_medians(samples);
  if (medians.size() > 1) {
    result.median = median(medians);
    result.median_interval = median_interval(medians);
  }
  return result;
}

std::vector<double> paired_values(std::span<const Samples> cases, const CombineRound& combine) {
  return values_by_process(cases, combine, median_of_values);
}

std::optional<PairedMedian> paired_median(std::span<const Samples> cases,
                                          const CombineRound& combine) {
  return finite_middle(paired_values(cases, combine), median_of_values);
}

std::optional<PairedMedian> paired_ratio(std::span<const double> baseline_seconds,
                                         std::span<const double> case_seconds) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(baseline_seconds.size(), case_seconds.size()); ++i) {
    ratios.push_back(ratio_of(baseline_seconds[i], case_seconds[i]));
  }
  return finite_middle(ratios, median_of_ratios);
}

std::optional<PairedMedian> paired_ratio(Samples baseline, Samples samples) {
  const auto ratio = [](std::span<const double> seconds, std::span<const double>) {
    return ratio_of(seconds[0], seconds[1]);
  };
  return finite_middle(values_by_process(std::array{baseline, samples}, ratio, median_of_ratios),
                       median_of_ratios);
}

}  // namespace parbench
