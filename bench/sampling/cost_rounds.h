// Decides when tasks are measured alone between a case's samples, and computes their costs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "bench/execution/plan_runner.h"

namespace parbench {

struct PreparedCase;

/// Time for measuring each task by itself, as a fraction of the time of the case's samples. Tasks
/// are measured between samples, so that the bound and the samples see the same conditions. Until
/// its second round, a case may spend twice this fraction.
inline constexpr double cost_share = 0.15;

/// The rounds of one case. All times are in seconds.
class CostRounds {
 public:
  /// Adds a sample: its time, and the time of one execution in it. Returns whether to measure a
  /// round now, so that the time of all rounds comes closest to their share. Returns false after
  /// the maximum number of rounds, and if the execution has no time or is not typical of the
  /// executions so far, because costs are divided by the execution beside them.
  [[nodiscard]] bool due_after(double taken, double execution);

  /// Adds a round with its time and its costs, one per task. A round before all samples does not
  /// count towards the share.
  void add(double taken, std::vector<double> costs);

  /// Estimates the seconds of the next round: the time of the latest round; before the first round,
  /// the time that tasks take one by one if they keep all lanes busy throughout an execution.
  [[nodiscard]] double expected_seconds(double execution, std::size_t lanes) const {
    return latest_round_ > 0 ? latest_round_ : execution * static_cast<double>(lanes);
  }

  [[nodiscard]] bool empty() const { return !ahead_ && beside_.empty(); }

  /// Returns whether there was a round beside a sample.
  [[nodiscard]] bool any_beside_samples() const { return !beside_.empty(); }

  /// Returns the cost of each task in an execution that takes `median`: `median` times the median,
  /// over rounds, of cost divided by execution (the lower of the middle two). A machine that is
  /// slower for a while slows tasks and executions alike, so the quotient is stable. The lower
  /// median is used, because the costs give a lower bound.
  ///
  /// A disturbance of only the execution or only the tasks does not cancel. Therefore only rounds
  /// with an execution close to `median` count. If there are none, rounds with a typical execution
  /// count; if there are none of these either, returns nothing. Without rounds beside samples,
  /// returns the costs measured before all samples, if any.
  [[nodiscard]] std::optional<std::vector<double>> costs(double median) const;

 private:
  /// A round beside a sample.
  struct Round {
    double execution = 0;  // seconds of an execution in the sample
    std::vector<double> costs;
  };

  [[nodiscard]] std::vector<const Round*> rounds_within(double factor, double median) const;

  double samples_ = 0;
  double rounds_ = 0;  // time of the rounds between samples
  double latest_round_ = 0;
  std::vector<double> executions_;            // seconds per execution of each sample
  std::optional<std::vector<double>> ahead_;  // costs measured before all samples
  std::vector<Round> beside_;
};

/// Estimates the seconds of a warm execution: the minimum of the first execution, which may include
/// loading libraries, and the sum of the costs of tasks measured after it.
[[nodiscard]] double warm_seconds(double first_execution, const std::vector<double>& costs);

/// Measures the tasks of a plan. Calls `interrupted` and `has_time` between measurements. Throws
/// Interrupted if `interrupted` returns true; returns nothing if `has_time` returns false.
[[nodiscard]] std::optional<std::vector<double>> costs_in_time(
    PlanRunner& runner, const std::function<bool()>& interrupted,
    const std::function<bool()>& has_time);

/// Returns whether to measure tasks before all samples, to learn the time of a warm execution: if
/// the first execution took less than 0.1 s, or a device loads code at first use.
[[nodiscard]] bool measures_tasks_first(const PreparedCase& prepared);

}  // namespace parbench
