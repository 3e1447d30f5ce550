// When the tasks of a case are measured alone between its samples, and what they then cost.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "bench/execution/plan_runner.h"

namespace parbench {

struct PreparedCase;

/// Measuring tasks alone is no sampling: it gets this share of the time of samples, between which
/// it lies, so that bound and samples see the same machine. Up to its second round a case may spend
/// twice as much.
inline constexpr double cost_share = 0.15;

/// The rounds of one case. All times are in seconds.
class CostRounds {
 public:
  /// Adds a sample: the time that it took, and one execution in it. Returns whether a round after
  /// it spends the share as nearly as whole rounds can; never after an execution that the round
  /// could not be compared with: one without a time, or one that is not typical of those so far.
  [[nodiscard]] bool due_after(double taken, double execution);

  /// Adds a round that took so long and measured these costs, one per task. The one ahead of all
  /// samples is no part of their share.
  void add(double taken, std::vector<double> costs);

  /// Estimates the seconds of the next round: those of the latest one; before it, as if tasks of
  /// all lanes had run at the same time throughout.
  [[nodiscard]] double expected_seconds(double execution, std::size_t lanes) const {
    return latest_round_ > 0 ? latest_round_ : execution * static_cast<double>(lanes);
  }

  [[nodiscard]] bool empty() const { return !ahead_ && beside_.empty(); }

  /// Returns whether there was a round beside a sample.
  [[nodiscard]] bool any_beside_samples() const { return !beside_.empty(); }

  /// Returns the cost of each task in an execution that takes `median`: cost over execution in the
  /// rounds beside samples, times `median`. A machine that is slower for a while is slower for
  /// both, so the quotient stays. The median of the quotients is taken, the lower of two in the
  /// middle, because what is made of the costs is a lower bound.
  ///
  /// A disturbance that met the execution and not the tasks, or the tasks alone, does not cancel.
  /// So only rounds count whose execution is close to `median`, or without such a round those whose
  /// execution is typical; nothing where there is none. Without any round beside samples, what was
  /// measured ahead of them.
  [[nodiscard]] std::optional<std::vector<double>> costs(double median) const;

 private:
  /// One round beside a sample.
  struct Round {
    double execution = 0;  // of that sample
    std::vector<double> costs;
  };

  [[nodiscard]] std::vector<const Round*> rounds_within(double factor, double median) const;

  double samples_ = 0;
  double rounds_ = 0;  // those between samples
  double latest_round_ = 0;
  std::vector<double> executions_;            // of the samples so far
  std::optional<std::vector<double>> ahead_;  // costs
  std::vector<Round> beside_;
};

/// A first execution also pays for what libraries load and make then: on a GPU that can be a
/// thousand times the rest. Tasks are measured after it, and take no longer than one by one.
[[nodiscard]] double warm_seconds(double first_execution, const std::vector<double>& costs);

/// Measures the tasks of a plan. Asks `interrupted` and `has_time` between its steps; throws
/// Interrupted, and returns nothing where the time is over, which leaves no bound.
[[nodiscard]] std::optional<std::vector<double>> costs_in_time(
    PlanRunner& runner, const std::function<bool()>& interrupted,
    const std::function<bool()>& has_time);

/// Whether tasks are measured ahead of all samples, which shows how long a warm execution takes. On
/// devices that load nothing at a first use, the first execution of a long case shows that too.
[[nodiscard]] bool measures_tasks_first(const PreparedCase& prepared);

}  // namespace parbench
