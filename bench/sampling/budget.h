// How a session divides its time between samples and the work beside and behind them.
#pragma once

#include <limits>

namespace parbench {

/// What a session has and expects once its cases are prepared, in seconds.
struct TimeNeeds {
  double left = std::numeric_limits<double>::infinity();  // until the session has to end
  double warm_up = 0;    // spent on it before, which the sampler counts as sampling
  double floor = 0;      // for the fewest samples that every case gets
  double profiling = 0;  // of all cases; 0: there is no profiling pass
};

/// Wall time of a sampler.
struct Budget {
  /// What all cases of a session may spend together, with other work (`Sampler::spend`). No round
  /// and no sample begins that would probably end later, except the first sample of all, and the
  /// first of a case whose baseline alone has one.
  double total_seconds = std::numeric_limits<double>::infinity();
  /// By how much rounds may exceed the total as long as a case has fewer than `min_samples`.
  double margin_seconds = 0;
  /// Expected time of other work, as a fraction of the sampling time. Early rounds may exceed it:
  /// until its second round, measuring the tasks alone may take twice the fraction.
  double other_share = 0;
  bool leaves_profiling = true;  // whether there is time for a profiling pass behind the samples
};

/// By how much profiling may take longer than estimated.
inline constexpr double profiling_slowdown = 1.5;

/// Returns the budget of the samples. Puts more than the estimate aside for profiling, because
/// samples may end late, data is brought back before a case is recorded, and a busy machine takes
/// longer. Where that leaves less than the fewest samples there is no profiling pass.
[[nodiscard]] Budget budget_of(const TimeNeeds& needs);

}  // namespace parbench
