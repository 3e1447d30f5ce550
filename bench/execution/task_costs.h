// Measures the cost of each task of a plan alone, with everything else idle, for the bound.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/execution/plan_runner.h"

namespace parbench {

/// Measures the tasks of a plan lane by lane in the order of the plan, back to back, so that a task
/// finds its lane awake and the caches as its predecessor left them. Other lanes rest meanwhile. A
/// task of several lanes is measured by itself, on all of them.
///
/// Of tasks with the same cost key on one lane the first three are measured. A task that is too
/// short for the clock is executed several times in a row, but a backward pass or an update only
/// once: it overwrites what it reads, or what it reads has been overwritten by a forward pass
/// since. A forward pass that is not measured runs ahead of its backward pass, untimed. The plan
/// and its streams outlive the timer.
///
/// Of a plan over ranks it measures the tasks on lanes of this process, while the other ranks
/// measure theirs. Tasks over several ranks are measured by all of them together, and cost what
/// they take on the slowest.
class TaskTimer {
 public:
  explicit TaskTimer(const Plan& plan);
  ~TaskTimer();

  /// Measures one round. Returns the seconds of each task, 0 for one without a lane of this
  /// process. Asks `interrupted` before each measurement of a lane and throws Interrupted. The data
  /// is not what an execution of the plan leaves.
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
