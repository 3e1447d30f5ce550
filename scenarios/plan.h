// A schedule as data: tasks on lanes with dependencies. A scenario builds one plan per strategy;
// the executor, the bounds and the timeline read it.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "kernels/communicator.h"
#include "kernels/device.h"
#include "kernels/op.h"

namespace parbench {

/// One operation with its arguments bound. The Op outlives the plan.
struct OpCall {
  Op* op = nullptr;
  std::vector<BufferView> views;
};

/// A copy of equal sizes.
struct CopyCall {
  BufferView destination;
  BufferView source;
};

/// A collective on the lanes of its task, one for each rank. The communicator outlives the plan.
struct CollectiveCall {
  Communicator* communicator = nullptr;
  Collective collective = Collective::all_reduce;
  std::vector<BufferView> data;  // by rank
};

using Call = std::variant<OpCall, CopyCall, CollectiveCall>;

enum class TaskKind { compute, copy, communication };

using LaneId = int;
using TaskId = int;

/// One queue of the schedule. The stream outlives the plan.
struct Lane {
  std::string name;  // "cpu:0/compute"
  Stream* stream = nullptr;
  StreamKind kind = StreamKind::compute;
};

/// Calls that run back to back on one lane once the tasks in `after` are done. Tasks of one lane
/// also run in the order in which they were added.
struct Task {
  std::string name;
  LaneId lane = 0;
  std::vector<Call> calls;
  std::vector<TaskId> after = {};
  TaskKind kind = TaskKind::compute;
  /// Tasks of a lane with the same key cost the same, so that measuring one of them measures all:
  /// the same work on the same memory, or so much work that a warm cache does not tell. Empty: the
  /// task is measured by itself.
  std::string cost_key = {};
  /// Where the calls are collectives: lanes of rank 1, 2, …; `lane` is that of rank 0. The task is
  /// done, for those that wait for it, when it is on all of its lanes. The order within a lane is
  /// that of the rank's part alone (see Communicator::enqueue).
  std::vector<LaneId> further_lanes = {};
};

/// `lane` and then the further ones.
[[nodiscard]] std::vector<LaneId> lanes_of(const Task& task);
[[nodiscard]] bool runs_on(const Task& task, LaneId lane);

/// How the host feeds the lanes: one thread enqueues all tasks; one thread a lane does; or the
/// tasks are captured into a graph beforehand and one thread launches that.
enum class Launch { one_thread, thread_per_lane, graph };

class Plan {
 public:
  LaneId add_lane(std::string name, Stream& stream, StreamKind kind = StreamKind::compute);

  /// Adds a task. Throws std::invalid_argument for a lane or dependency that does not exist yet, so
  /// a plan has no cycles by construction, and unless collectives have a lane for each rank and
  /// other calls a single one.
  TaskId add(Task task);

  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }

  /// FLOPs and bytes of all calls (a copy moves its bytes once out and once in).
  [[nodiscard]] Work work() const;

  Launch launch = Launch::one_thread;

 private:
  std::vector<Lane> lanes_;
  std::vector<Task> tasks_;
};

[[nodiscard]] Work work_of(const Call& call);
[[nodiscard]] Work work_of(const Task& task);

/// The lane for a copy between the devices of two lanes: the sender's, or the receiver's where only
/// that reaches the other's memory.
[[nodiscard]] LaneId copying_lane(const Plan& plan, LaneId sender, LaneId receiver);

/// The least time in which the tasks of a plan can be done, whatever the schedule, from the time
/// each task takes alone (seconds, one entry per task).
struct Bound {
  double critical_path = 0;  // longest chain of dependencies
  double busiest_lane = 0;   // most work on one lane
  /// For the lane where it is largest: the earliest that any of its tasks can start, its work, and
  /// the least that must follow the last of them. At least the busiest lane; with a pipeline it
  /// includes filling and draining.
  double lane_with_ends = 0;
  std::string busiest_lane_name;
  /// The device with the most work for its cores: the seconds of all lanes that run there times
  /// their threads, over the number of its cores. More lanes than cores make it larger than the
  /// busiest lane.
  double busiest_device = 0;

  [[nodiscard]] double seconds() const;
};
[[nodiscard]] Bound bound_of(const Plan& plan, const std::vector<double>& task_seconds);

}  // namespace parbench
