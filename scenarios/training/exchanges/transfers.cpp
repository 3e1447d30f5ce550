// Adds copies between peers, and sums on the receiver.
#include "scenarios/training/exchanges/transfers.h"

#include <fmt/format.h>

#include <utility>

namespace parbench {

Peer peer_of(const StepTasks& tasks, int replica) {
  const GridPoint point{.replica = replica};
  return {.name = fmt::format("replica {}", replica),
          .device = tasks.stage(point).device(),
          .compute = tasks.compute_lane(point),
          .copies = tasks.copy_lane(point)};
}

TaskId add_transfer(StepTasks& tasks, const std::string& what, const Peer& from, const Peer& to,
                    std::vector<TaskId> after, const CopyCall& copy) {
  Plan& plan = tasks.step().plan;
  const bool within = from.device == to.device;
  std::vector<LaneId> lanes{from.compute};
  if (!within) lanes = copying_lanes(plan, from.copies, to.copies);
  const std::string name = fmt::format("{}, {} to {}", what, from.name, to.name);
  return plan.add({.name = name,
                   .kind = within ? TaskKind::copy : TaskKind::communication,
                   .lanes = std::move(lanes),
                   .after = std::move(after),
                   .cost_key = name,
                   .sent = within ? 0 : static_cast<double>(copy.source.bytes)},
                  {copy});
}

TaskId add_reduction(StepTasks& tasks, const Peer& receiver, const BufferView& sum,
                     bool is_first_there) {
  TrainingStep& step = tasks.step();
  const auto send = [&](int replica, const BufferView& destination) {
    const GridPoint point{.replica = replica};
    return add_transfer(
        tasks, "gradients", peer_of(tasks, replica), receiver, tasks.completed(point),
        {.destination = destination, .source = tasks.stage(point).region().gradients});
  };
  TaskId last = is_first_there ? tasks.completed({}).back() : send(0, sum);
  if (step.layout.grid.replicas == 1) return last;
  Op& add =
      step.ops.prepare(stream_of(step, receiver.compute),
                       Accumulate{.count = static_cast<std::int64_t>(sum.bytes / sizeof(float))});
  for (int replica = 1; replica < step.layout.grid.replicas; ++replica) {
    const BufferView inbox = step.context.borrow(receiver.device, sum.bytes);
    const TaskId arrived = send(replica, inbox);
    last = step.plan.add({.name = fmt::format("add gradients of replica {}", replica),
                          .kind = TaskKind::communication,
                          .lanes = {receiver.compute},
                          .after = {last, arrived},
                          .cost_key = "add gradients"},
                         {bind(add, {{"source", inbox}, {"destination", sum}})});
  }
  return last;
}

}  // namespace parbench
