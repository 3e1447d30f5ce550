// Dependencies between tasks, from the elements that they read and write.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

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
  /// `ready`: tasks for which every access waits.
  explicit AccessLog(std::vector<TaskId> ready) : ready_(std::move(ready)) {}

  /// Records an access and appends the tasks for which it has to wait.
  void access(ElementRange range, bool writes, TaskId task, std::vector<TaskId>& after);

  /// Appends the tasks after which no access is outstanding.
  void append_last(std::vector<TaskId>& tasks) const;

 private:
  struct Access {
    ElementRange range;
    bool writes = false;
    TaskId task = 0;
  };

  std::vector<TaskId> ready_;
  std::vector<Access> accesses_;  // a later write removes the accesses that it covers
};

/// Sorts the list and removes duplicates. Of several tasks whose only lane is the same, keeps only
/// the last one, which runs after the others.
void keep_last_of_lanes(const PlanGraph& graph, std::vector<TaskId>& tasks);

}  // namespace parbench
