// The evidence on a case in the processes of two reports. All samples of a process share its memory
// layout, its place in time and its random choices: the process is the unit of the statistics, not
// the sample.
#pragma once

#include <cstddef>
#include <vector>

#include "reports/compare/verdict.h"
#include "reports/model/report.h"

namespace parbench::compare {

/// Standard deviation between the processes of one program, relative to its time: what is assumed
/// where a report has a single process and so does not show it. 1.5% is the spread of unchanged
/// runs on a shared two-core virtual machine; a quiet machine has less.
inline constexpr double assumed_process_spread = 0.015;
/// The same for programs that repeat a case in a row, as Google Benchmark does: their repetitions
/// share the moment as well, and what drifts within seconds differs from run to run only.
inline constexpr double assumed_burst_spread = 0.05;
/// How far it is trusted: as if five processes of another program had shown it.
inline constexpr double assumed_degrees_of_freedom = 4;
/// A standard deviation between processes that their samples do not show.
struct AssumedSpread {
  double deviation = assumed_process_spread;
  double degrees_of_freedom = assumed_degrees_of_freedom;  // infinite where it is known
};

/// Samples that a single process needs for an estimate of their variance.
inline constexpr std::size_t min_samples = 3;

/// The samples of a case, by the process that took them.
struct Processes {
  /// Logarithm of the median of seconds of each process, in the order of processes. Not finite
  /// where that median is zero or no number.
  std::vector<double> log_medians;
  /// Variance of the only log median that comes from its samples being few: that of a normal
  /// distribution's median, (π/2)·σ²/n, with the median absolute deviation for σ, or the standard
  /// deviation where most samples are equal. Zero where there are several processes, whose spread
  /// contains it.
  double sampling_variance = 0;
  double sampling_degrees_of_freedom = 1;
  /// Whether the variance is known: not of a single process with fewer than `min_samples`.
  bool has_variance = true;
};

[[nodiscard]] Processes processes_of(const report::CaseResult& c);

/// Estimates `now` over `base`, which have at least one process each, and variances. With several
/// processes on both sides it is that of Welch's test ("The generalization of 'Student's' problem
/// when several different population variances are involved", 1947): the variances of the two means
/// add up, and Satterthwaite's formula ("An approximate distribution of estimates of variance
/// components", 1946) gives their degrees of freedom. A side with one process has the assumed
/// spread instead, or that of the other side where it is larger, and the variance of its median.
[[nodiscard]] Estimate estimate_change(const Processes& base, const Processes& now,
                                       const AssumedSpread& assumed = {});

}  // namespace parbench::compare
