// Statistical evidence from the processes of two reports. The unit of the statistics is the
// process, not the sample, because all samples of a process share its memory layout, its time of
// day and its random choices.
#pragma once

#include <cstddef>
#include <vector>

#include "reports/compare/verdict.h"
#include "reports/model/report.h"

namespace parbench::compare {

/// Standard deviation between processes of one program, relative to its time, assumed for a report
/// with a single process. 1.5% is the spread of unchanged runs on a shared virtual machine with two
/// cores; quiet machines have less.
inline constexpr double assumed_process_spread = 0.015;
/// The assumed deviation if a side was measured by another program. Google Benchmark takes all
/// repetitions of a case in a row, so drift over more than seconds shows only between runs.
inline constexpr double assumed_burst_spread = 0.05;
/// Degrees of freedom of the assumed spread: as if five processes of another program had shown it.
inline constexpr double assumed_degrees_of_freedom = 4;
struct AssumedSpread {
  double deviation = assumed_process_spread;
  double degrees_of_freedom = assumed_degrees_of_freedom;  // infinite if the deviation is known
};

/// Min number of samples from which the variance of a single process can be estimated.
inline constexpr std::size_t min_samples = 3;

/// The samples of a case, grouped by process.
struct Processes {
  /// Logarithm of each process's median in seconds, in the order of processes. Not finite if the
  /// median is zero or not a number.
  std::vector<double> log_medians;
  /// Sampling variance of a single process's log median: (π/2)·σ²/n, as of the median of a normal
  /// distribution, with the median absolute deviation for σ, or the standard deviation if most
  /// samples are equal. Zero for several processes, whose spread contains it.
  double sampling_variance = 0;
  double sampling_degrees_of_freedom = 1;
  /// False for a single process with fewer than `min_samples` samples.
  bool has_variance = true;
};

[[nodiscard]] Processes processes_of(const report::CaseResult& c);

/// Estimates the change of `now` over `base`. Both need at least one process and a known variance.
/// With several processes on both sides this is Welch's test ("The generalization of 'Student's'
/// problem when several different population variances are involved", 1947): the variances of the
/// two means add up, and Satterthwaite's formula ("An approximate distribution of estimates of
/// variance components", 1946) gives their degrees of freedom. A side with one process gets the
/// assumed spread, or the other side's if that is larger, plus the sampling variance of its median.
[[nodiscard]] Estimate estimate_change(const Processes& base, const Processes& now,
                                       const AssumedSpread& assumed = {});

}  // namespace parbench::compare
