// Timelines made by hand for tests.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Adds lanes and calls; a call is a task of its own unless it says otherwise. Everything is
/// enqueued at 0 unless it says otherwise.
class MadeTimeline {
 public:
  LaneId lane(const std::string& device, const std::string& stream = "compute") {
    return made_.graph.add_lane({.name = device + "/" + stream, .device = device});
  }

  struct More {
    TaskKind kind = TaskKind::compute;
    std::vector<TaskId> after = {};
    Nanoseconds enqueued = 0;
    std::string name = "operation";
    double flops = 0;
    std::string phase = {};
  };

  TaskId task(LaneId lane, TimeSpan ran, const More& more) {
    const TaskId id =
        made_.graph.add_task({.name = "task " + std::to_string(made_.graph.tasks.size()),
                              .kind = more.kind,
                              .lanes = {lane},
                              .after = more.after,
                              .phase = more.phase});
    call(id, ran, more);
    return id;
  }
  TaskId task(LaneId lane, TimeSpan ran) { return task(lane, ran, More{}); }

  /// A collective, with when it ran on each of its lanes. `sent`: bytes.
  TaskId collective(const std::vector<std::pair<LaneId, TimeSpan>>& ran,
                    const std::vector<TaskId>& after = {}, double sent = 0) {
    Task task{.name = "task " + std::to_string(made_.graph.tasks.size()),
              .kind = TaskKind::communication,
              .lanes = {},
              .after = after,
              .sent = sent};
    for (const auto& [lane, span] : ran) task.lanes.push_back(lane);
    const TaskId id = made_.graph.add_task(std::move(task));
    for (const auto& [lane, span] : ran) {
      add({.task = id, .lane = lane, .name = "all_reduce", .enqueued = {0, 0}, .ran = span});
    }
    return id;
  }

  /// Another call of a task.
  void call(TaskId task, TimeSpan ran, const More& more) {
    add({.task = task,
         .lane = made_.graph.task(task).lanes.front(),
         .name = more.name,
         .enqueued = {0, more.enqueued},
         .ran = ran,
         .work = {.flops = more.flops}});
  }

  [[nodiscard]] Timeline& made() { return made_; }

 private:
  void add(TimedCall call) {
    made_.end = std::max(made_.end, call.ran.end);
    made_.calls.push_back(std::move(call));
  }

  Timeline made_;
};

}  // namespace parbench
