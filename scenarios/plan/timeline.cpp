// Adjusts the beginnings of calls on several lanes, and joins the calls of tasks.
#include "scenarios/plan/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace parbench {
namespace {

TimeSpan joined(const TimeSpan& a, const TimeSpan& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace

Nanoseconds nanoseconds_of(double seconds) { return std::llround(seconds * 1e9); }

Timeline begin_together(Timeline timeline) {
  // The n-th calls of a task on each of its lanes are one message or collective.
  std::map<std::pair<TaskId, LaneId>, std::size_t> counts;
  std::map<std::pair<TaskId, std::size_t>, std::vector<TimedCall*>> joint;
  for (TimedCall& call : timeline.calls) {
    if (timeline.graph.task(call.task).lanes.size() < 2) continue;
    joint[{call.task, counts[{call.task, call.lane}]++}].push_back(&call);
  }
  for (auto& [nth_call, calls] : joint) {
    Nanoseconds last = timeline.begin;
    for (const TimedCall* call : calls) last = std::max(last, call->ran.begin);
    for (TimedCall* call : calls) {
      if (call->ran.end > last) call->ran.begin = last;
    }
  }
  std::ranges::stable_sort(timeline.calls, {},
                           [](const TimedCall& call) { return call.ran.begin; });
  return timeline;
}

Timeline merge_calls(Timeline timeline) {
  std::vector<TimedCall> merged;
  std::map<std::pair<TaskId, LaneId>, std::size_t> merged_index;
  for (const TimedCall& call : timeline.calls) {
    const auto [known, is_new] = merged_index.try_emplace({call.task, call.lane}, merged.size());
    if (is_new) {
      merged.push_back({.task = call.task,
                        .lane = call.lane,
                        .name = {},
                        .enqueued = call.enqueued,
                        .ran = call.ran,
                        .work = call.work});
      continue;
    }
    TimedCall& first = merged[known->second];
    first.enqueued = joined(first.enqueued, call.enqueued);
    first.ran = joined(first.ran, call.ran);
    first.work += call.work;
  }
  timeline.calls = std::move(merged);
  return timeline;
}

}  // namespace parbench
