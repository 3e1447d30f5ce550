// Measures the cost of each task of a plan alone, with everything else idle, for the bound.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "bench/execution/plan_runner.h"

namespace parbench {

/// Measures the tasks of a plan lane by lane in plan order, back to back, so that the lane is
/// already running and the caches are as the previous task left them. Other lanes are idle
/// meanwhile. A task on several lanes is measured separately, on all of them.
///
/// The first three tasks with the same cost key on one lane are measured. A task that is too short
/// for the clock is repeated. Backward passes and updates run only once: they overwrite their
/// inputs, or need inputs that a later forward pass has overwritten. Before a measured backward
/// pass, its forward pass runs untimed unless that is measured, too. The plan and its streams must
/// outlive the timer.
///
/// For a plan over ranks, the timer measures the tasks on lanes of this process while the other
/// ranks measure theirs. All ranks measure tasks over several ranks together; the slowest rank
/// determines the cost.
class TaskTimer {
 public:
  explicit TaskTimer(const Plan& plan);
  ~TaskTimer();

  /// Measures one round. Returns the seconds of each task; 0 for a task without a lane of this
  /// process. Calls `interrupted` before each measurement of a lane and throws Interrupted if it
  /// returns true. Leaves other data in the plan's memory than an execution does.
  [[nodiscard]] std::vector<double> measure(const std::function<bool()>& interrupted);

 private:
  struct Group;
  class Segment;

  [[nodiscard]] bool is_over_ranks(const Task& task) const;
  [[nodiscard]] std::vector<TaskId> passes_before(TaskId id) const;
  void add(TaskId id, std::size_t group);
  void measure(const std::vector<Segment*>& segments, const std::function<bool()>& interrupted);
  [[nodiscard]] std::map<std::size_t, double> too_short_groups(
      const std::vector<Segment*>& segments, const std::vector<double>& seconds) const;

  const Plan& plan_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // of each task
  std::vector<bool> is_added_;         // of each task
  std::vector<std::unique_ptr<Segment>> segments_;
};

}  // namespace parbench
