// Which tasks a task has to wait for, by the elements that they read and write.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

/// A run of consecutive elements.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  [[nodiscard]] bool overlaps(const ElementRange& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
  [[nodiscard]] bool contains(const ElementRange& other) const {
    return first <= other.first && other.first + other.count <= first + count;
  }
};

/// The accesses of tasks to one array, in the order of the plan.
class AccessLog {
 public:
  /// `ready`: tasks that every access waits for.
  explicit AccessLog(std::vector<TaskId> ready) : ready_(std::move(ready)) {}

  /// Notes an access and appends the tasks that it has to wait for.
  void access(ElementRange range, bool writes, TaskId task, std::vector<TaskId>& after);

  /// Appends tasks after which no access is left.
  void append_last(std::vector<TaskId>& tasks) const;

 private:
  struct Access {
    ElementRange range;
    bool writes = false;
    TaskId task = 0;
  };

  std::vector<TaskId> ready_;
  std::vector<Access> accesses_;  // without those that a later write covers
};

/// Removes tasks that others in the list wait for because they are on the same, single lane, and
/// those that are named twice. Sorts the rest.
void keep_last_of_lanes(const PlanGraph& graph, std::vector<TaskId>& tasks);

}  // namespace parbench
