// Division of a session's time between samples and other work.
#pragma once

#include <limits>

namespace parbench {

/// Available and expected times of a session once its cases are prepared, in seconds.
struct TimeNeeds {
  double left = std::numeric_limits<double>::infinity();  // until the session must end
  double warm_up = 0;                                     // spent already, part of the budget
  double floor = 0;      // for the minimum number of samples of every case
  double profiling = 0;  // for all cases; 0: there is no profiling pass
};

/// Time limits of a sampler (wall time).
struct Budget {
  /// Limit for all cases of a session together, including other work (`Sampler::spend`). A round or
  /// sample that would probably end later is not started, except the first sample of all, and the
  /// first of a case if only its baseline has one.
  double total_seconds = std::numeric_limits<double>::infinity();
  /// Excess over the total that rounds may use while a case has fewer than `min_samples`.
  double margin_seconds = 0;
  /// Expected time of other work, which is measuring tasks alone, as a fraction of the sampling
  /// time. A case may spend twice the fraction until its second round of costs.
  double other_share = 0;
  bool leaves_profiling = true;  // there is time for a profiling pass after the samples
};

/// Factor by which profiling may take longer than estimated.
inline constexpr double profiling_slowdown = 1.5;

/// Returns the budget of the samples. Reserves more than the estimate for profiling, because
/// samples may end late, data is restored before a case is recorded, and a busy machine is slower.
/// If too little is left for the minimum number of samples, there is no profiling pass.
[[nodiscard]] Budget budget_of(const TimeNeeds& needs);

}  // namespace parbench
