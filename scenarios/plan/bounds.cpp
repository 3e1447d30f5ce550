// Longest paths, lane work and the one-machine relaxation.
#include "scenarios/plan/bounds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <string_view>

namespace parbench {
namespace {

/// Returns, for each task, the seconds of the longest chain of dependencies before it.
std::vector<double> heads(const std::vector<Task>& tasks, const std::vector<double>& costs) {
  std::vector<double> head(tasks.size(), 0.0);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId before : tasks[i].after) {
      const auto b = static_cast<std::size_t>(before);
      head[i] = std::max(head[i], head[b] + costs[b]);
    }
  }
  return head;
}

/// Returns, for each task, the seconds of the longest chain of dependent tasks after it.
std::vector<double> tails(const std::vector<Task>& tasks, const std::vector<double>& costs) {
  std::vector<double> tail(tasks.size(), 0.0);
  for (std::size_t i = tasks.size(); i-- > 0;) {
    for (const TaskId before : tasks[i].after) {
      const auto b = static_cast<std::size_t>(before);
      tail[b] = std::max(tail[b], tail[i] + costs[i]);
    }
  }
  return tail;
}

struct LaneTask {
  double head = 0;
  double seconds = 0;
  double tail = 0;
};

/// Returns the tasks of a lane, sorted by earliest possible start.
std::vector<LaneTask> tasks_of(const PlanGraph& graph, LaneId lane,
                               const std::vector<double>& costs, const std::vector<double>& head,
                               const std::vector<double>& tail) {
  std::vector<LaneTask> own;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (runs_on(graph.tasks[i], lane)) own.push_back({head[i], costs[i], tail[i]});
  }
  std::ranges::sort(own, {}, &LaneTask::head);
  return own;
}

/// Returns the one-machine bound of a lane (Bound::one_machine). Carlier (1982) proves that it
/// equals the length, tails included, of Jackson's preemptive schedule, which always runs the
/// available task with the largest tail. Takes O(n log n) time. `tasks` are sorted by head.
double one_machine(const std::vector<LaneTask>& tasks) {
  const auto less = [](const LaneTask& a, const LaneTask& b) { return a.tail < b.tail; };
  std::priority_queue<LaneTask, std::vector<LaneTask>, decltype(less)> ready(less);
  double time = 0;
  double max = 0;
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
      max = std::max(max, time + task.tail);
    }
  }
  return max;
}

double busiest_device(const PlanGraph& graph, const std::vector<double>& costs) {
  std::map<std::string_view, double> core_seconds;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    for (const LaneId id : graph.tasks[i].lanes) {
      const Lane& lane = graph.lane(id);
      if (lane.device_cores == 0) continue;
      core_seconds[lane.device] += costs[i] * lane.threads / lane.device_cores;
    }
  }
  double max = 0;
  for (const auto& [device, seconds] : core_seconds) max = std::max(max, seconds);
  return max;
}

}  // namespace

Bound bound_of(const PlanGraph& graph, const std::vector<double>& costs) {
  if (costs.size() != graph.tasks.size()) {
    throw std::invalid_argument("a bound needs one cost per task");
  }
  const std::vector<double> head = heads(graph.tasks, costs);
  const std::vector<double> tail = tails(graph.tasks, costs);

  Bound bound;
  for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
    const std::vector<LaneTask> own = tasks_of(graph, static_cast<LaneId>(lane), costs, head, tail);
    double work = 0;
    for (const LaneTask& task : own) work += task.seconds;
    if (work > bound.busiest_lane || bound.busiest_lane_name.empty()) {
      bound.busiest_lane = work;
      bound.busiest_lane_name = graph.lanes[lane].name;
    }
    bound.one_machine = std::max(bound.one_machine, one_machine(own));
  }
  bound.busiest_device = busiest_device(graph, costs);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    bound.critical_path = std::max(bound.critical_path, head[i] + costs[i] + tail[i]);
  }
  bound.seconds =
      std::max({bound.critical_path, bound.busiest_lane, bound.one_machine, bound.busiest_device});
  return bound;
}

Bound scaled(Bound bound, double factor) {
  for (double Bound::*part : {&Bound::seconds, &Bound::critical_path, &Bound::busiest_lane,
                              &Bound::busiest_device, &Bound::one_machine}) {
    bound.*part *= factor;
  }
  return bound;
}

}  // namespace parbench
