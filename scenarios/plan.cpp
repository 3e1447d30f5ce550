// Building plans, and the bounds that follow from them.
#include "scenarios/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

#include "kernels/device.h"

namespace parbench {

LaneId Plan::add_lane(std::string name, Stream& stream) {
  lanes_.push_back({std::move(name), &stream});
  return static_cast<LaneId>(lanes_.size()) - 1;
}

TaskId Plan::add(Task task) {
  if (task.lane < 0 || task.lane >= static_cast<LaneId>(lanes_.size())) {
    throw std::invalid_argument(
        fmt::format("task {} names lane {} of {}", task.name, task.lane, lanes_.size()));
  }
  for (const TaskId before : task.after) {
    if (before < 0 || before >= static_cast<TaskId>(tasks_.size())) {
      throw std::invalid_argument(
          fmt::format("task {} waits for task {}, which does not exist yet", task.name, before));
    }
  }
  tasks_.push_back(std::move(task));
  return static_cast<TaskId>(tasks_.size()) - 1;
}

std::size_t Plan::call_count() const {
  return std::accumulate(tasks_.begin(), tasks_.end(), std::size_t{0},
                         [](std::size_t sum, const Task& task) { return sum + task.calls.size(); });
}

Work Plan::work() const {
  Work sum;
  for (const Task& task : tasks_) sum += work_of(task);
  return sum;
}

Work work_of(const Call& call) {
  if (const auto* op = std::get_if<OpCall>(&call)) return op->op->work();
  return {.flops = 0, .bytes = 2.0 * static_cast<double>(std::get<CopyCall>(call).source.bytes)};
}

Work work_of(const Task& task) {
  Work sum;
  for (const Call& call : task.calls) sum += work_of(call);
  return sum;
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

/// The tasks of a lane, the latest possible start first.
std::vector<LaneTask> tasks_of(const Plan& plan, LaneId lane, const std::vector<double>& seconds,
                               const std::vector<double>& head, const std::vector<double>& tail) {
  std::vector<LaneTask> own;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (plan.tasks()[i].lane == lane) own.push_back({head[i], seconds[i], tail[i]});
  }
  std::ranges::sort(own, std::ranges::greater(), &LaneTask::head);
  return own;
}

/// Over all subsets of a lane's tasks: the earliest start among them, their work, and the least
/// that must follow the last (the one-machine bound with heads and tails, Carlier 1982). Only
/// subsets "head at least h, tail at least t" can be the largest.
double with_ends(const std::vector<LaneTask>& tasks) {
  double most = 0;
  for (const LaneTask& least : tasks) {
    double work = 0;
    for (const LaneTask& task : tasks) {
      if (task.tail < least.tail) continue;
      work += task.seconds;
      most = std::max(most, task.head + work + least.tail);
    }
  }
  return most;
}

/// Copy lanes count where they run on the cores that compute.
double busiest_device(const Plan& plan, const std::vector<double>& seconds) {
  std::map<const Device*, double> core_seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Task& task = plan.tasks()[i];
    const Stream& stream = *plan.lanes()[static_cast<std::size_t>(task.lane)].stream;
    const DeviceInfo& info = stream.device().info();
    const bool on_copy_core = task.kind == TaskKind::copy && info.copy_cores != info.cores;
    if (!on_copy_core) core_seconds[&stream.device()] += seconds[i] * stream.threads();
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
