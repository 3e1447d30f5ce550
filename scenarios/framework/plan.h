// An executable plan: its graph, the stream of each lane and the calls of each task. A scenario
// builds one for each case.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/core/device.h"
#include "kernels/core/op.h"
#include "kernels/core/ranks/host_work.h"
#include "scenarios/framework/ranks/rank_group.h"
#include "scenarios/plan/bounds.h"
#include "scenarios/plan/graph.h"

namespace parbench {

class MessagePart;

/// One operation with bound arguments. The Op must outlive the call. `View`: BufferView in plans,
/// SymbolicView (symbolic.h) as long as the memory is not known.
template <class View>
struct CallOf {
  Op* op = nullptr;
  std::vector<View> views;
  // layer of the network to which the call belongs, if any: "layer1.0.conv1"
  std::string layer = {};
};
using OpCall = CallOf<BufferView>;

/// A copy between views of equal sizes. In a task with two lanes of different ranks, sender and
/// receiver, the copy is a message.
struct CopyCall {
  BufferView destination;
  BufferView source;
  MessagePart* message = nullptr;  // this rank's part of a message; set by Plan::add
};

/// A collective on the lanes of its task, one lane per member. The communicator must outlive the
/// plan.
struct CollectiveCall {
  Communicator* communicator = nullptr;
  Collective collective = Collective::all_reduce;
  std::vector<BufferView> data;         // by member
  std::vector<BufferView> inputs = {};  // by member, for collectives that have inputs
};

using Call = std::variant<OpCall, CopyCall, CollectiveCall>;

/// Returns the FLOPs and bytes of a call (a copy reads and writes its bytes once).
[[nodiscard]] Work work_of(const Call& call);

/// Enqueues one call of a task on the streams of the task's lanes.
void enqueue(const Call& call, std::span<Stream* const> streams);

class Plan {
 public:
  Plan() = default;
  /// `ranks`: the ranks to which the devices belong; must outlive the plan. Null for a single
  /// process.
  explicit Plan(RankGroup* ranks);

  /// The stream must outlive the plan. With several processes, a stream that needs a host thread
  /// for messages gets it here. Throws OutOfMemory.
  LaneId add_lane(std::string name, Stream& stream, StreamKind kind = StreamKind::compute);

  /// Adds a task that runs `calls` back to back; its work is the sum of theirs. Throws the
  /// exceptions of PlanGraph::add_task, and std::invalid_argument unless collectives have one lane
  /// per member, messages two lanes and other calls a single lane.
  ///
  /// With several processes, calls of tasks without a lane of this rank are not kept. For each task
  /// in `after` that has no rank in common with the new one, an empty message from one to the other
  /// is added first, as a separate task, unless an earlier call of `add` has added it.
  TaskId add(Task task, std::vector<Call> calls);

  /// Returns the ranks of the plan; null for a single process.
  [[nodiscard]] RankGroup* ranks() const { return ranks_; }
  /// Returns the work with which an execution begins on this rank, so that all ranks begin
  /// together; null for a single process.
  [[nodiscard]] HostWork* start() const { return start_.get(); }
  [[nodiscard]] int rank_of(LaneId lane) const { return stream(lane).device().info().rank; }

  void submit_as(SubmitMode mode) { graph_.submit = mode; }

  [[nodiscard]] const PlanGraph& graph() const { return graph_; }
  [[nodiscard]] Stream& stream(LaneId lane) const {
    return *streams_.at(static_cast<std::size_t>(lane));
  }
  [[nodiscard]] const std::vector<Stream*>& streams() const { return streams_; }  // by lane
  [[nodiscard]] std::vector<Stream*> streams_of(const Task& task) const;          // as Task::lanes
  [[nodiscard]] const std::vector<Call>& calls(TaskId task) const {
    return calls_.at(static_cast<std::size_t>(task));
  }
  [[nodiscard]] const std::vector<std::vector<Call>>& calls() const { return calls_; }  // by task

 private:
  [[nodiscard]] bool is_local(const Task& task) const;
  [[nodiscard]] bool is_message(const Task& task) const;
  [[nodiscard]] bool share_a_rank(const Task& one, const Task& other) const;
  void wait_for_other_ranks(Task& task);
  void bind_message(const Task& task, CopyCall& copy);

  PlanGraph graph_;
  std::vector<Stream*> streams_;
  std::vector<std::vector<Call>> calls_;
  RankGroup* ranks_ = nullptr;
  std::shared_ptr<HostWork> start_;
  std::vector<std::shared_ptr<MessagePart>> messages_;
  // empty messages of `add`, by the task that ends before and the rank that waits
  std::map<std::pair<TaskId, int>, TaskId> signals_ = {};
  int next_tag_ = 0;
};

/// Returns the bound of a plan's graph (scenarios/plan/bounds.h). If several devices share cores,
/// the bound is at least the work of the busiest core.
[[nodiscard]] Bound bound_of(const Plan& plan, const std::vector<double>& costs);

/// Returns whether two plans of one context run the same kernels on tensors of the same shapes,
/// types and layouts, with the same dependencies and on the same streams, submitted in the same
/// way. Names, addresses and streams without tasks do not matter. With several processes, all ranks
/// call this function and get the same answer.
[[nodiscard]] bool are_equal(const Plan& one, const Plan& other);

/// Returns the lanes for a copy between the devices of two lanes: the sender's lane, or the
/// receiver's if the sender cannot access the receiver's memory; for different ranks both lanes,
/// the sender's first.
[[nodiscard]] std::vector<LaneId> copying_lanes(const Plan& plan, LaneId sender, LaneId receiver);

}  // namespace parbench
