// A plan that can be executed: its graph, the stream of each lane and the calls of each task. A
// scenario builds one per strategy.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/core/device.h"
#include "kernels/core/op.h"
#include "scenarios/plan/graph.h"

namespace parbench {

/// One operation with its arguments bound. The Op outlives the plan.
struct OpCall {
  Op* op = nullptr;
  std::vector<BufferView> views;
  std::string layer = {};  // of a network, where the call belongs to one: "layer1.0.conv1"
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

/// Returns the FLOPs and bytes of a call (a copy reads and writes its bytes once).
[[nodiscard]] Work work_of(const Call& call);

/// Enqueues one call of a task on the streams of the task's lanes.
void enqueue(const Call& call, std::span<Stream* const> streams);

class Plan {
 public:
  /// The stream outlives the plan.
  LaneId add_lane(std::string name, Stream& stream, StreamKind kind = StreamKind::compute);

  /// Adds a task that runs `calls` back to back; its work is theirs. Throws what
  /// PlanGraph::add_task throws, and std::invalid_argument unless collectives have a lane for each
  /// rank and other calls a single one.
  TaskId add(Task task, std::vector<Call> calls);

  void submit_as(SubmitMode mode) { graph_.submit = mode; }

  [[nodiscard]] const PlanGraph& graph() const { return graph_; }
  [[nodiscard]] Stream& stream(LaneId lane) const {
    return *streams_.at(static_cast<std::size_t>(lane));
  }
  [[nodiscard]] const std::vector<Stream*>& streams() const { return streams_; }  // by lane
  [[nodiscard]] std::vector<Stream*> streams_of(const Task& task) const;          // by rank
  [[nodiscard]] const std::vector<Call>& calls(TaskId task) const {
    return calls_.at(static_cast<std::size_t>(task));
  }
  [[nodiscard]] const std::vector<std::vector<Call>>& calls() const { return calls_; }  // by task

 private:
  PlanGraph graph_;
  std::vector<Stream*> streams_;
  std::vector<std::vector<Call>> calls_;
};

/// Returns the lane for a copy between the devices of two lanes: the sender's, or the receiver's
/// where only that reaches the other's memory.
[[nodiscard]] LaneId copying_lane(const Plan& plan, LaneId sender, LaneId receiver);

}  // namespace parbench
