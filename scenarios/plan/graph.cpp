// Builds graphs, and checks the lanes and dependencies of their tasks.
#include "scenarios/plan/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parbench {
namespace {

void check_ids(const Task& task, const std::vector<int>& ids, std::size_t count,
               std::string_view what) {
  for (const int id : ids) {
    if (id >= 0 && static_cast<std::size_t>(id) < count) continue;
    throw std::invalid_argument(
        fmt::format("task {}: {} {} does not exist; there are {}", task.name, what, id, count));
  }
}

void check_lanes(const Task& task, std::size_t count) {
  if (task.lanes.empty()) {
    throw std::invalid_argument(fmt::format("task {} has no lane", task.name));
  }
  check_ids(task, task.lanes, count, "lane");
  std::vector<LaneId> lanes = task.lanes;
  std::ranges::sort(lanes);
  if (std::ranges::adjacent_find(lanes) != lanes.end()) {
    throw std::invalid_argument(fmt::format("task {} names a lane twice", task.name));
  }
}

}  // namespace

std::string_view name_of(TaskKind kind) {
  constexpr std::array<std::string_view, task_kinds.size()> names{"compute", "copy",
                                                                  "communication"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(SubmitMode mode) {
  constexpr std::array<std::string_view, submit_modes.size()> names{"one-thread", "thread-per-lane",
                                                                    "graph"};
  return names.at(static_cast<std::size_t>(mode));
}

std::string_view host_of(std::string_view device) {
  const std::string_view before_kind = device.substr(0, device.find(':'));
  const std::size_t end = before_kind.find('/');
  return end == std::string_view::npos ? std::string_view() : before_kind.substr(0, end);
}

bool runs_on(const Task& task, LaneId lane) {
  return std::ranges::find(task.lanes, lane) != task.lanes.end();
}

LaneId PlanGraph::add_lane(Lane lane) {
  lanes.push_back(std::move(lane));
  return static_cast<LaneId>(lanes.size()) - 1;
}

TaskId PlanGraph::add_task(Task task) {
  check_lanes(task, lanes.size());
  check_ids(task, task.after, tasks.size(), "earlier task");
  tasks.push_back(std::move(task));
  return static_cast<TaskId>(tasks.size()) - 1;
}

Work PlanGraph::work() const {
  Work sum;
  for (const Task& task : tasks) sum += task.work;
  return sum;
}

std::vector<std::string> PlanGraph::devices() const {
  std::vector<std::string> names;
  for (const Lane& lane : lanes) {
    if (std::ranges::find(names, lane.device) == names.end()) names.push_back(lane.device);
  }
  return names;
}

}  // namespace parbench
