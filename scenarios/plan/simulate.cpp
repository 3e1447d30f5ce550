// One pass over the tasks, whose order respects lanes and dependencies.
#include "scenarios/plan/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace parbench {
namespace {

void check(const PlanGraph& graph, const std::vector<double>& costs) {
  if (costs.size() != graph.tasks.size()) {
    throw std::invalid_argument(fmt::format("{} costs for a plan of {} tasks; give one per task",
                                            costs.size(), graph.tasks.size()));
  }
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] >= 0 && std::isfinite(costs[i])) continue;
    throw std::invalid_argument(fmt::format("task {} costs {} s; a cost is finite and not negative",
                                            graph.tasks[i].name, costs[i]));
  }
}

}  // namespace

Timeline simulate(const PlanGraph& graph, const std::vector<double>& costs) {
  check(graph, costs);
  Timeline timeline;
  timeline.graph = graph;
  std::vector<Nanoseconds> free(graph.lanes.size(), 0);  // by lane: end of its last task so far
  std::vector<Nanoseconds> ended;
  ended.reserve(graph.tasks.size());
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    Nanoseconds begin = 0;
    for (const TaskId before : task.after) {
      begin = std::max(begin, ended[static_cast<std::size_t>(before)]);
    }
    for (const LaneId lane : task.lanes) {
      begin = std::max(begin, free[static_cast<std::size_t>(lane)]);
    }
    ended.push_back(begin + nanoseconds_of(costs[i]));
    for (const LaneId lane : task.lanes) {
      free[static_cast<std::size_t>(lane)] = ended.back();
      timeline.calls.push_back({.task = static_cast<TaskId>(i),
                                .lane = lane,
                                .name = {},
                                .ran = {begin, ended.back()},
                                .work = lane == task.lanes.front() ? task.work : Work{}});
    }
    timeline.end = std::max(timeline.end, ended.back());
  }
  std::ranges::stable_sort(timeline.calls, {},
                           [](const TimedCall& call) { return call.ran.begin; });
  return timeline;
}

}  // namespace parbench
