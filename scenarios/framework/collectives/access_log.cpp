// Finds dependencies from accesses to elements.
#include "scenarios/framework/collectives/access_log.h"

#include <algorithm>
#include <functional>
#include <set>

namespace parbench {

void AccessLog::access(ElementRange range, bool writes, TaskId task, std::vector<TaskId>& after) {
  if (range.count == 0) {
    after.insert(after.end(), ready_.begin(), ready_.end());
    return;
  }
  bool waits = false;
  for (const Access& earlier : accesses_) {
    if (!(writes || earlier.writes) || !earlier.range.overlaps(range)) continue;
    after.push_back(earlier.task);
    waits = waits || earlier.range.contains(range);
  }
  // An earlier access that covers the range has already waited for `ready_`.
  if (!waits) after.insert(after.end(), ready_.begin(), ready_.end());
  if (writes) {
    std::erase_if(accesses_, [&](const Access& one) { return range.contains(one.range); });
  }
  accesses_.push_back({range, writes, task});
}

void AccessLog::append_last(std::vector<TaskId>& tasks) const {
  if (accesses_.empty()) tasks.insert(tasks.end(), ready_.begin(), ready_.end());
  for (const Access& one : accesses_) tasks.push_back(one.task);
}

void keep_last_of_lanes(const PlanGraph& graph, std::vector<TaskId>& tasks) {
  std::ranges::sort(tasks, std::greater());
  std::set<LaneId> lanes;
  std::set<TaskId> known;
  std::erase_if(tasks, [&](TaskId id) {
    if (!known.insert(id).second) return true;
    const Task& task = graph.task(id);
    return task.lanes.size() == 1 && !lanes.insert(task.lanes.front()).second;
  });
  std::ranges::sort(tasks);
}

}  // namespace parbench
