// Building plans, and the bounds that follow from them.
#include "scenarios/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>

#include "kernels/crossing.h"

namespace parbench {

LaneId Plan::add_lane(std::string name, Stream& stream, StreamKind kind) {
  lanes_.push_back({std::move(name), &stream, kind});
  return static_cast<LaneId>(lanes_.size()) - 1;
}

namespace {

/// Lanes that a call needs.
int width_of(const Call& call) {
  const auto* collective = std::get_if<CollectiveCall>(&call);
  return collective == nullptr ? 1 : collective->communicator->size();
}

void check_lanes(const Task& task, std::size_t count) {
  std::vector<LaneId> lanes = lanes_of(task);
  for (const LaneId lane : lanes) {
    if (lane >= 0 && lane < static_cast<LaneId>(count)) continue;
    throw std::invalid_argument(fmt::format("task {} names lane {} of {}", task.name, lane, count));
  }
  std::ranges::sort(lanes);
  if (std::ranges::adjacent_find(lanes) != lanes.end()) {
    throw std::invalid_argument(fmt::format("task {} names a lane twice", task.name));
  }
  for (const Call& call : task.calls) {
    if (width_of(call) == static_cast<int>(lanes.size())) continue;
    throw std::invalid_argument(fmt::format("task {} has {} lanes for a call that needs {}",
                                            task.name, lanes.size(), width_of(call)));
  }
}

}  // namespace

std::vector<LaneId> lanes_of(const Task& task) {
  std::vector<LaneId> lanes{task.lane};
  lanes.insert(lanes.end(), task.further_lanes.begin(), task.further_lanes.end());
  return lanes;
}

bool runs_on(const Task& task, LaneId lane) {
  return task.lane == lane ||
         std::ranges::find(task.further_lanes, lane) != task.further_lanes.end();
}

TaskId Plan::add(Task task) {
  check_lanes(task, lanes_.size());
  for (const TaskId before : task.after) {
    if (before < 0 || before >= static_cast<TaskId>(tasks_.size())) {
      throw std::invalid_argument(
          fmt::format("task {} waits for task {}, which does not exist yet", task.name, before));
    }
  }
  tasks_.push_back(std::move(task));
  return static_cast<TaskId>(tasks_.size()) - 1;
}

Work Plan::work() const {
  Work sum;
  for (const Task& task : tasks_) sum += work_of(task);
  return sum;
}

Work work_of(const Call& call) {
  if (const auto* op = std::get_if<OpCall>(&call)) return op->op->work();
  if (const auto* collective = std::get_if<CollectiveCall>(&call)) {
    return work_of(collective->collective, collective->data.size(), collective->data.front().bytes);
  }
  return {.flops = 0, .bytes = 2.0 * static_cast<double>(std::get<CopyCall>(call).source.bytes)};
}

Work work_of(const Task& task) {
  Work sum;
  for (const Call& call : task.calls) sum += work_of(call);
  return sum;
}

LaneId copying_lane(const Plan& plan, LaneId sender, LaneId receiver) {
  const auto device_of = [&](LaneId lane) -> const Device& {
    return plan.lanes().at(static_cast<std::size_t>(lane)).stream->device();
  };
  return reaches(device_of(sender), device_of(receiver)) ? sender : receiver;
}

double Bound::seconds() const {
  return std::max({critical_path, busiest_lane, lane_with_ends, busiest_device});
}

namespace {

/// Longest chain of dependencies that ends before each task starts.
std::vector<double> heads(const std::vector<Task>& tasks, const std::vector<double>& seconds) {
  std::vector<double> head(tasks.size(), 0.0);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId before : tasks[i].after) {
      const auto b = static_cast<std::size_t>(before);
      head[i] = std::max(head[i], head[b] + seconds[b]);
    }
  }
  return head;
}

/// Longest chain of dependencies that starts after each task ends.
std::vector<double> tails(const std::vector<Task>& tasks, const std::vector<double>& seconds) {
  std::vector<double> tail(tasks.size(), 0.0);
  for (std::size_t i = tasks.size(); i-- > 0;) {
    for (const TaskId before : tasks[i].after) {
      const auto b = static_cast<std::size_t>(before);
      tail[b] = std::max(tail[b], tail[i] + seconds[i]);
    }
  }
  return tail;
}

struct LaneTask {
  double head = 0;
  double seconds = 0;
  double tail = 0;
};

/// The tasks of a lane, the earliest possible start first.
std::vector<LaneTask> tasks_of(const Plan& plan, LaneId lane, const std::vector<double>& seconds,
                               const std::vector<double>& head, const std::vector<double>& tail) {
  std::vector<LaneTask> own;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (runs_on(plan.tasks()[i], lane)) own.push_back({head[i], seconds[i], tail[i]});
  }
  std::ranges::sort(own, {}, &LaneTask::head);
  return own;
}

/// The largest, over all subsets of a lane's tasks, of the earliest start among them, their work
/// and the least that must follow the last (the one-machine bound with heads and tails). Carlier
/// (1982) proves it equal to the end of Jackson's schedule, which may interrupt a task and always
/// runs the one with the largest tail; that takes n log n steps. `tasks` are sorted by head.
double with_ends(const std::vector<LaneTask>& tasks) {
  const auto less = [](const LaneTask& a, const LaneTask& b) { return a.tail < b.tail; };
  std::priority_queue<LaneTask, std::vector<LaneTask>, decltype(less)> ready(less);
  double time = 0;
  double most = 0;
  for (std::size_t next = 0; next < tasks.size() || !ready.empty();) {
    if (ready.empty()) time = std::max(time, tasks[next].head);
    while (next < tasks.size() && tasks[next].head <= time) ready.push(tasks[next++]);
    LaneTask task = ready.top();
    ready.pop();
    const double interruption =
        next < tasks.size() ? tasks[next].head : std::numeric_limits<double>::infinity();
    if (time + task.seconds > interruption) {
      task.seconds -= interruption - time;
      time = interruption;
      ready.push(task);
    } else {
      time += task.seconds;
      most = std::max(most, time + task.tail);
    }
  }
  return most;
}

/// Lanes of copies, whatever kind of task they run, count where they share the cores that compute.
double busiest_device(const Plan& plan, const std::vector<double>& seconds) {
  std::map<const Device*, double> core_seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    for (const LaneId id : lanes_of(plan.tasks()[i])) {
      const Lane& lane = plan.lanes()[static_cast<std::size_t>(id)];
      const Stream& stream = *lane.stream;
      const DeviceInfo& info = stream.device().info();
      const bool on_copy_core = lane.kind == StreamKind::copy && info.copy_cores != info.cores;
      if (!on_copy_core) core_seconds[&stream.device()] += seconds[i] * stream.threads();
    }
  }
  double most = 0;
  for (const auto& [device, sum] : core_seconds) {
    const std::size_t cores = device->info().cores.size();
    if (cores > 0) most = std::max(most, sum / static_cast<double>(cores));
  }
  return most;
}

}  // namespace

Bound bound_of(const Plan& plan, const std::vector<double>& task_seconds) {
  const std::vector<Task>& tasks = plan.tasks();
  if (task_seconds.size() != tasks.size()) {
    throw std::invalid_argument("a bound needs one time per task");
  }
  const std::vector<double> head = heads(tasks, task_seconds);
  const std::vector<double> tail = tails(tasks, task_seconds);

  Bound bound;
  for (std::size_t lane = 0; lane < plan.lanes().size(); ++lane) {
    const std::vector<LaneTask> own =
        tasks_of(plan, static_cast<LaneId>(lane), task_seconds, head, tail);
    double work = 0;
    for (const LaneTask& task : own) work += task.seconds;
    if (work > bound.busiest_lane || bound.busiest_lane_name.empty()) {
      bound.busiest_lane = work;
      bound.busiest_lane_name = plan.lanes()[lane].name;
    }
    bound.lane_with_ends = std::max(bound.lane_with_ends, with_ends(own));
  }
  bound.busiest_device = busiest_device(plan, task_seconds);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    bound.critical_path = std::max(bound.critical_path, head[i] + task_seconds[i] + tail[i]);
  }
  return bound;
}

}  // namespace parbench
