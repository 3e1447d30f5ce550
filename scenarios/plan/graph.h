// A plan as data: tasks on lanes with dependencies. It has only the names of devices, so bounds,
// simulations, metrics and reports can be computed without devices.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/stream_kind.h"
#include "kernels/base/work.h"

namespace parbench {

enum class TaskKind { compute, copy, communication };
inline constexpr std::array<TaskKind, 3> task_kinds{TaskKind::compute, TaskKind::copy,
                                                    TaskKind::communication};
[[nodiscard]] std::string_view name_of(TaskKind kind);  // "compute", "copy", "communication"

/// How the host submits a plan: one thread enqueues all tasks; one thread per lane enqueues the
/// lane's tasks; or the tasks are captured into a graph beforehand, which one thread launches.
enum class SubmitMode { one_thread, thread_per_lane, graph };
inline constexpr std::array<SubmitMode, 3> submit_modes{
    SubmitMode::one_thread, SubmitMode::thread_per_lane, SubmitMode::graph};
[[nodiscard]] std::string_view name_of(SubmitMode mode);  // "thread-per-lane"

using LaneId = int;  // index into PlanGraph::lanes
using TaskId = int;  // index into PlanGraph::tasks

/// One queue of a device: its tasks run one after the other.
struct Lane {
  std::string name;    // "cpu:0/compute"
  std::string device;  // "cpu:0"
  StreamKind kind = StreamKind::compute;
  int threads = 1;  // number of cores on which its tasks run
  /// Number of the device's cores, which its lanes share; 0 for a lane that uses none of them, such
  /// as a copy lane with its own core.
  int device_cores = 0;
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// Returns the host in the name of a device: "node1" for "node1/0/cpu:0", a name in a run of
/// several ranks; empty for "cpu:0" and "cuda:0/1".
[[nodiscard]] std::string_view host_of(std::string_view device);

/// Work that runs on its lanes without a pause once the tasks in `after` have ended.
struct Task {
  std::string name;
  TaskKind kind = TaskKind::compute;
  /// One lane, or a lane of each device that takes part in a message or collective. The task has
  /// ended when it has ended on all of them.
  std::vector<LaneId> lanes;
  std::vector<TaskId> after = {};
  /// Tasks of a lane with the same key cost the same, so measuring one of them suffices. They do
  /// the same work on the same memory, or so much work that a warm cache makes no difference.
  /// Empty: the task is measured by itself.
  std::string cost_key = {};
  /// Phase of a training step: "forward", "backward", "update"; empty: none.
  std::string phase = {};
  std::optional<int> micro_batch = {};  // index of the micro-batch that it processes
  Work work = {};
  double sent = 0;  // bytes moved from one device to another, summed over all senders
  friend bool operator==(const Task&, const Task&) = default;
};

[[nodiscard]] bool runs_on(const Task& task, LaneId lane);

/// Tasks and their lanes. Tasks of a lane run in the order of `tasks`. A task waits only for
/// earlier tasks, so a graph has no cycles.
struct PlanGraph {
  SubmitMode submit = SubmitMode::one_thread;
  std::vector<Lane> lanes;
  std::vector<Task> tasks;

  LaneId add_lane(Lane lane);
  /// Throws std::invalid_argument for a task without lanes, for nonexistent lanes or dependencies,
  /// and for a lane that is named twice.
  TaskId add_task(Task task);

  [[nodiscard]] const Lane& lane(LaneId id) const { return lanes.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] const Task& task(TaskId id) const { return tasks.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] Work work() const;
  /// Returns the names of devices, in the order of their first lanes.
  [[nodiscard]] std::vector<std::string> devices() const;
  friend bool operator==(const PlanGraph&, const PlanGraph&) = default;
};

}  // namespace parbench
