// A plan that can be executed: its graph, the stream of each lane and the calls of each task. A
// scenario builds one per strategy.
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

/// One operation with its arguments bound. The Op outlives the plan.
struct OpCall {
  Op* op = nullptr;
  std::vector<BufferView> views;
  std::string layer = {};  // of a network, where the call belongs to one: "layer1.0.conv1"
};

/// A copy of equal sizes. In a task with the lanes of a sender and a receiver of different ranks it
/// is a message between them.
struct CopyCall {
  BufferView destination;
  BufferView source;
  MessagePart* message = nullptr;  // this rank's part of a message; set by Plan::add
};

/// A collective on the lanes of its task, one for each member. The communicator outlives the plan.
struct CollectiveCall {
  Communicator* communicator = nullptr;
  Collective collective = Collective::all_reduce;
  std::vector<BufferView> data;         // by member
  std::vector<BufferView> inputs = {};  // the same, of a collective that has them
};

using Call = std::variant<OpCall, CopyCall, CollectiveCall>;

/// Returns the FLOPs and bytes of a call (a copy reads and writes its bytes once).
[[nodiscard]] Work work_of(const Call& call);

/// Enqueues one call of a task on the streams of the task's lanes.
void enqueue(const Call& call, std::span<Stream* const> streams);

class Plan {
 public:
  Plan() = default;
  /// A plan over the devices of several ranks, which outlive it; null: of this process alone.
  explicit Plan(RankGroup* ranks);

  /// The stream outlives the plan.
  LaneId add_lane(std::string name, Stream& stream, StreamKind kind = StreamKind::compute);

  /// Adds a task that runs `calls` back to back; its work is theirs. Throws what
  /// PlanGraph::add_task throws, and std::invalid_argument unless collectives have a lane for each
  /// rank and other calls a single one.
  ///
  /// Over ranks, the calls of a task without a lane of this one are not kept, and a task that waits
  /// for one of which no lane is on a rank of its own waits for a message of no bytes, a task that
  /// is added before it.
  TaskId add(Task task, std::vector<Call> calls);

  /// The ranks of the plan; null: this process alone.
  [[nodiscard]] RankGroup* ranks() const { return ranks_; }
  /// Work with which an execution begins on this rank, so that all begin together; null: none.
  [[nodiscard]] HostWork* start() const { return start_.get(); }
  [[nodiscard]] int rank_of(LaneId lane) const { return stream(lane).device().info().rank; }

  void submit_as(SubmitMode mode) { graph_.submit = mode; }

  [[nodiscard]] const PlanGraph& graph() const { return graph_; }
  [[nodiscard]] Stream& stream(LaneId lane) const {
    return *streams_.at(static_cast<std::size_t>(lane));
  }
  [[nodiscard]] const std::vector<Stream*>& streams() const { return streams_; }  // by lane
  [[nodiscard]] std::vector<Stream*> streams_of(const Task& task) const;          // by lane
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
  std::map<std::pair<TaskId, int>, TaskId> signals_ = {};  // by task and the rank that waits
  int next_tag_ = 0;
};

/// Returns the bound of a plan's graph (scenarios/plan/bounds.h), raised to the work of the busiest
/// core where several devices share cores: as the busiest device, of which they are parts.
[[nodiscard]] Bound bound_of(const Plan& plan, const std::vector<double>& costs);

/// Returns whether two plans of one context run the same kernels on tensors of the same kinds, in
/// the same order and on the same streams, submitted in the same way. Names and addresses do not
/// matter, nor do streams without tasks. Over ranks all of them ask, and get the same answer.
[[nodiscard]] bool are_equal(const Plan& one, const Plan& other);

/// Returns the lanes for a copy between the devices of two lanes: the sender's, or the receiver's
/// where only that reaches the other's memory; both, the sender's first, where they are of
/// different ranks.
[[nodiscard]] std::vector<LaneId> copying_lanes(const Plan& plan, LaneId sender, LaneId receiver);

}  // namespace parbench
