// Adds the copies to the centre of the star, its additions, and the copies back.
#include "scenarios/training/exchanges/star.h"

#include <fmt/format.h>

#include "scenarios/training/exchanges/transfers.h"

namespace parbench {

void write_star(StepTasks& tasks) {
  TrainingStep& step = tasks.step();
  const int last = step.layout.grid.replicas - 1;
  if (last == 0) return;
  const GridPoint centre{.replica = last};
  const Peer receiver = peer_of(tasks, last);
  const BufferView sum = tasks.stage(centre).region().gradients;
  Op& add =
      step.ops.prepare(stream_of(step, receiver.compute),
                       Accumulate{.count = static_cast<std::int64_t>(sum.bytes / sizeof(float))});
  for (int r = 0; r < last; ++r) {
    const GridPoint point{.replica = r};
    const BufferView inbox = step.context.borrow(receiver.device, sum.bytes);
    std::vector<TaskId> after = tasks.completed(centre);
    after.push_back(
        add_transfer(tasks, "gradients", peer_of(tasks, r), receiver, tasks.completed(point),
                     {.destination = inbox, .source = tasks.stage(point).region().gradients}));
    tasks.completed(centre) = {
        step.plan.add({.name = fmt::format("add gradients of replica {}", r),
                       .kind = TaskKind::communication,
                       .lanes = {receiver.compute},
                       .after = std::move(after),
                       .cost_key = "add gradients"},
                      {bind(add, {{"source", inbox}, {"destination", sum}})})};
  }
  for (int r = 0; r < last; ++r) {
    const GridPoint point{.replica = r};
    tasks.completed(point) = {add_transfer(
        tasks, "sums of gradients", receiver, peer_of(tasks, r), tasks.completed(centre),
        {.destination = tasks.stage(point).region().gradients, .source = sum})};
  }
}

}  // namespace parbench
