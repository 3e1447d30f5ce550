// Timelines made by hand for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench::timeline {

/// Adds lanes and calls; a call is a task of its own unless it says otherwise. Everything is
/// enqueued at 0 unless it says otherwise.
class MadeTimeline {
 public:
  std::size_t lane(const std::string& device, const std::string& stream = "compute") {
    made_.lanes.push_back({device + "/" + stream, device});
    return made_.lanes.size() - 1;
  }

  struct More {
    Kind kind = Kind::compute;
    std::vector<std::size_t> after = {};
    Nanoseconds enqueued = 0;
    std::string name = "operation";
    double flops = 0;
  };

  /// Returns the task.
  std::size_t task(std::size_t lane, Span ran, const More& more) {
    made_.tasks.push_back(
        {"task " + std::to_string(made_.tasks.size()), more.kind, {lane}, more.after});
    call(made_.tasks.size() - 1, ran, more);
    return made_.tasks.size() - 1;
  }
  std::size_t task(std::size_t lane, Span ran) { return task(lane, ran, More{}); }

  /// A collective, with when it ran on each of its lanes.
  std::size_t collective(const std::vector<std::pair<std::size_t, Span>>& ran,
                         const std::vector<std::size_t>& after = {}) {
    Task& task = made_.tasks.emplace_back();
    task.name = "task " + std::to_string(made_.tasks.size() - 1);
    task.kind = Kind::communication;
    task.after = after;
    for (const auto& [lane, span] : ran) {
      task.lanes.push_back(lane);
      made_.calls.push_back({.task = made_.tasks.size() - 1,
                             .lane = lane,
                             .name = "all_reduce",
                             .enqueued = {0, 0},
                             .ran = span});
      made_.end = std::max(made_.end, span.end);
    }
    return made_.tasks.size() - 1;
  }

  /// Another call of a task.
  void call(std::size_t task, Span ran, const More& more) {
    made_.calls.push_back({.task = task,
                           .lane = made_.tasks[task].lanes.front(),
                           .name = more.name,
                           .enqueued = {0, more.enqueued},
                           .ran = ran,
                           .flops = more.flops});
    made_.end = std::max(made_.end, ran.end);
  }

  [[nodiscard]] Timeline& made() { return made_; }

 private:
  Timeline made_;
};

}  // namespace parbench::timeline
