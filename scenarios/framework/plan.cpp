// Builds and compares plans.
#include "scenarios/framework/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/core/crossing.h"
#include "kernels/core/ranks/remote_device.h"
#include "scenarios/framework/ranks/messages.h"

namespace parbench {
namespace {

/// Returns the number of lanes that a call needs.
std::size_t width_of(const Call& call) {
  const auto* collective = std::get_if<CollectiveCall>(&call);
  return collective == nullptr ? 1 : static_cast<std::size_t>(collective->communicator->size());
}

bool is_same_kernel(const Op& one, const Op& other) {
  const auto is_same_argument = [](const Argument& a, const Argument& b) {
    return a.role == b.role && a.tensor == b.tensor;
  };
  return one.name() == other.name() && one.implementation() == other.implementation() &&
         one.work() == other.work() &&
         std::ranges::equal(one.arguments(), other.arguments(), is_same_argument);
}

/// Returns whether two calls do the same: operations with the same kernel and arguments of equal
/// shapes, copies of equally many bytes, or collectives of one kind, communicator and size.
bool do_the_same(const Call& one, const Call& other) {
  if (one.index() != other.index()) return false;
  if (const auto* op = std::get_if<OpCall>(&one)) {
    return is_same_kernel(*op->op, *std::get<OpCall>(other).op);
  }
  if (const auto* copy = std::get_if<CopyCall>(&one)) {
    return copy->source.bytes == std::get<CopyCall>(other).source.bytes;
  }
  const auto& collective = std::get<CollectiveCall>(one);
  const auto& counterpart = std::get<CollectiveCall>(other);
  return collective.communicator == counterpart.communicator &&
         collective.collective == counterpart.collective &&
         std::ranges::equal(collective.data, counterpart.data, {}, &BufferView::bytes,
                            &BufferView::bytes);
}

/// Returns whether the tasks of both plans have the same kinds, dependencies, streams and (on this
/// rank) calls, and are submitted in the same way.
bool execute_the_same(const Plan& one, const Plan& other) {
  const std::vector<Task>& tasks = one.graph().tasks;
  const std::vector<Task>& others = other.graph().tasks;
  if (tasks.size() != others.size() || one.graph().submit != other.graph().submit) return false;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != others[i].kind || tasks[i].after != others[i].after) return false;
    if (one.streams_of(tasks[i]) != other.streams_of(others[i])) return false;
    if (!std::ranges::equal(one.calls()[i], other.calls()[i], do_the_same)) return false;
  }
  return true;
}

/// Host and number of a core.
using Core = std::pair<std::string_view, int>;

/// Returns the cores on which a lane works, each with the share of the lane's time in which the
/// core is busy; none for a copy lane with cores of its own.
std::map<Core, double> cores_of(const Plan& plan, LaneId id) {
  std::map<Core, double> cores;
  const Lane& lane = plan.graph().lane(id);
  if (lane.device_cores == 0) return cores;
  const DeviceInfo& info = plan.stream(id).device().info();
  for (const int core : info.cores) {
    cores[{host_of(info.name), core}] =
        static_cast<double>(lane.threads) / static_cast<double>(lane.device_cores);
  }
  return cores;
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
    if (streams.size() == 1) return streams.front()->copy(copy->destination, copy->source);
    if (copy->message == nullptr) return;  // a message between two other ranks
    for (Stream* stream : streams) {
      if (!is_remote(*stream)) copy->message->enqueue(*stream);
    }
  } else {
    const auto& collective = std::get<CollectiveCall>(call);
    collective.communicator->enqueue(collective.collective, streams, collective.data,
                                     collective.inputs);
  }
}

Plan::Plan(RankGroup* ranks) : ranks_(ranks) {
  if (ranks_ != nullptr) start_ = std::make_shared<HostWork>(make_barrier_work(ranks_->link()));
}

LaneId Plan::add_lane(std::string name, Stream& stream, StreamKind kind) {
  const DeviceInfo& info = stream.device().info();
  const bool on_copy_core = kind == StreamKind::copy && info.copy_cores != info.cores;
  // Memory for the stream's messages may be lacking. While the case is being prepared, only the
  // case fails; during an execution, the run would end.
  if (ranks_ != nullptr && !is_remote(stream)) (void)stream.host_worker();
  streams_.push_back(&stream);
  return graph_.add_lane({.name = std::move(name),
                          .device = info.name,
                          .kind = kind,
                          .threads = stream.threads(),
                          .device_cores = on_copy_core ? 0 : static_cast<int>(info.cores.size())});
}

TaskId Plan::add(Task task, std::vector<Call> calls) {
  task.work = {};
  if (ranks_ != nullptr) wait_for_other_ranks(task);
  for (Call& call : calls) {
    auto* copy = std::get_if<CopyCall>(&call);
    if (copy != nullptr && is_message(task)) {
      bind_message(task, *copy);
    } else if (width_of(call) != task.lanes.size()) {
      throw std::invalid_argument(fmt::format("task {} has {} lanes for a call that needs {}",
                                              task.name, task.lanes.size(), width_of(call)));
    }
    task.work += work_of(call);
  }
  if (!is_local(task)) calls = {};  // calls of other ranks are not kept
  const TaskId id = graph_.add_task(std::move(task));
  calls_.push_back(std::move(calls));
  return id;
}

bool Plan::is_local(const Task& task) const {
  return ranks_ == nullptr || std::ranges::any_of(task.lanes, [this](LaneId lane) {
           return rank_of(lane) == ranks_->rank();
         });
}

bool Plan::is_message(const Task& task) const {
  return ranks_ != nullptr && task.lanes.size() == 2 &&
         rank_of(task.lanes.front()) != rank_of(task.lanes.back());
}

bool Plan::share_a_rank(const Task& one, const Task& other) const {
  return std::ranges::any_of(one.lanes, [&](LaneId lane) {
    return std::ranges::any_of(other.lanes,
                               [&](LaneId another) { return rank_of(lane) == rank_of(another); });
  });
}

/// Replaces each dependency on a task of other ranks by a dependency on an empty message that
/// follows that task. A dependency between tasks that share a rank is kept: that rank waits for the
/// earlier task, and the other ranks of a message or collective wait for that rank.
void Plan::wait_for_other_ranks(Task& task) {
  for (TaskId& before : task.after) {
    const Task& earlier = graph_.task(before);
    if (share_a_rank(earlier, task)) continue;
    const int waiting = rank_of(task.lanes.front());
    const auto known = signals_.find({before, waiting});
    if (known != signals_.end()) {
      before = known->second;
      continue;
    }
    const TaskId signal = add({.name = "signal after " + earlier.name,
                               .kind = TaskKind::communication,
                               .lanes = {earlier.lanes.front(), task.lanes.front()},
                               .after = {before}},
                              {CopyCall{}});
    signals_[{before, waiting}] = signal;
    before = signal;
  }
}

void Plan::bind_message(const Task& task, CopyCall& copy) {
  Stream& sender = stream(task.lanes.front());
  Stream& receiver = stream(task.lanes.back());
  auto part = make_message_part(ranks_->link(),
                                {.from = sender.device().info().rank,
                                 .to = receiver.device().info().rank,
                                 .tag = next_tag_,
                                 .source = copy.source,
                                 .destination = copy.destination},
                                sender, receiver);
  next_tag_ = (next_tag_ + 1) % RankLink::tag_count;
  copy.message = part.get();
  if (part != nullptr) messages_.push_back(std::move(part));
}

std::vector<Stream*> Plan::streams_of(const Task& task) const {
  std::vector<Stream*> streams;
  for (const LaneId lane : task.lanes) streams.push_back(&stream(lane));
  return streams;
}

Bound bound_of(const Plan& plan, const std::vector<double>& costs) {
  const PlanGraph& graph = plan.graph();
  Bound bound = bound_of(graph, costs);
  std::map<Core, double> seconds;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::map<Core, double> of_task;  // by core; a task on several lanes counts once
    for (const LaneId lane : graph.tasks[i].lanes) {
      for (const auto& [core, share] : cores_of(plan, lane)) {
        of_task[core] = std::max(of_task[core], costs[i] * share);
      }
    }
    for (const auto& [core, work] : of_task) seconds[core] += work;
  }
  for (const auto& [core, work] : seconds) {
    bound.busiest_device = std::max(bound.busiest_device, work);
  }
  bound.seconds = std::max(bound.seconds, bound.busiest_device);
  return bound;
}

bool are_equal(const Plan& one, const Plan& other) {
  const bool equal = execute_the_same(one, other);
  if (one.ranks() == nullptr) return equal;
  return one.ranks()->largest({equal ? 0.0 : 1.0}).front() == 0;
}

std::vector<LaneId> copying_lanes(const Plan& plan, LaneId sender, LaneId receiver) {
  if (plan.rank_of(sender) != plan.rank_of(receiver)) return {sender, receiver};
  return {reaches(plan.stream(sender).device(), plan.stream(receiver).device()) ? sender
                                                                                : receiver};
}

}  // namespace parbench
