// When the tasks of a case are measured alone between its samples.
#pragma once

#include <vector>

namespace parbench {

struct PreparedCase;

/// Measuring tasks alone is no sampling: it gets this share of the time of samples, between which
/// it lies, so that bound and samples see the same machine.
inline constexpr double cost_share = 0.15;

/// The rounds of one case, in seconds.
class CostRounds {
 public:
  /// Adds a sample. Returns whether a round after it spends the share as nearly as whole rounds
  /// can.
  [[nodiscard]] bool due_after(double sample) {
    samples_ += sample;
    return rounds_ + latest_ / 2 <= cost_share * samples_;
  }
  /// Adds a round. The one ahead of all samples is no part of their share.
  void add(double round) {
    if (samples_ > 0) rounds_ += round;
    latest_ = round;
  }

 private:
  double samples_ = 0;
  double rounds_ = 0;  // those between samples
  double latest_ = 0;
};

/// A first execution also pays for what libraries load and make then: on a GPU that can be a
/// thousand times the rest. Tasks are measured after it, and take no longer than one by one.
[[nodiscard]] double warm_seconds(double first_execution, const std::vector<double>& costs);

/// Whether tasks are measured ahead of all samples, which shows how long a warm execution takes. On
/// devices that load nothing at a first use, the first execution of a long case shows that too.
[[nodiscard]] bool measures_tasks_first(const PreparedCase& prepared);

}  // namespace parbench
