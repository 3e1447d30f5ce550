// Building plans.
#include "scenarios/framework/plan.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/core/crossing.h"

namespace parbench {
namespace {

/// Lanes that a call needs.
std::size_t width_of(const Call& call) {
  const auto* collective = std::get_if<CollectiveCall>(&call);
  return collective == nullptr ? 1 : static_cast<std::size_t>(collective->communicator->size());
}

}  // namespace

Work work_of(const Call& call) {
  if (const auto* op = std::get_if<OpCall>(&call)) return op->op->work();
  if (const auto* collective = std::get_if<CollectiveCall>(&call)) {
    return work_of(collective->collective, collective->data.size(), collective->data.front().bytes);
  }
  return {.flops = 0, .bytes = 2.0 * static_cast<double>(std::get<CopyCall>(call).source.bytes)};
}

void enqueue(const Call& call, std::span<Stream* const> streams) {
  if (const auto* op = std::get_if<OpCall>(&call)) {
    op->op->enqueue(*streams.front(), op->views);
  } else if (const auto* copy = std::get_if<CopyCall>(&call)) {
    streams.front()->copy(copy->destination, copy->source);
  } else {
    const auto& collective = std::get<CollectiveCall>(call);
    collective.communicator->enqueue(collective.collective, streams, collective.data);
  }
}

LaneId Plan::add_lane(std::string name, Stream& stream, StreamKind kind) {
  const DeviceInfo& info = stream.device().info();
  const bool on_copy_core = kind == StreamKind::copy && info.copy_cores != info.cores;
  streams_.push_back(&stream);
  return graph_.add_lane({.name = std::move(name),
                          .device = info.name,
                          .kind = kind,
                          .threads = stream.threads(),
                          .device_cores = on_copy_core ? 0 : static_cast<int>(info.cores.size())});
}

TaskId Plan::add(Task task, std::vector<Call> calls) {
  task.work = {};
  for (const Call& call : calls) {
    if (width_of(call) != task.lanes.size()) {
      throw std::invalid_argument(fmt::format("task {} has {} lanes for a call that needs {}",
                                              task.name, task.lanes.size(), width_of(call)));
    }
    task.work += work_of(call);
  }
  const TaskId id = graph_.add_task(std::move(task));
  calls_.push_back(std::move(calls));
  return id;
}

std::vector<Stream*> Plan::streams_of(const Task& task) const {
  std::vector<Stream*> streams;
  for (const LaneId lane : task.lanes) streams.push_back(&stream(lane));
  return streams;
}

LaneId copying_lane(const Plan& plan, LaneId sender, LaneId receiver) {
  return reaches(plan.stream(sender).device(), plan.stream(receiver).device()) ? sender : receiver;
}

}  // namespace parbench
