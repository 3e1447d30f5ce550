// Joining the calls of tasks.
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

Timeline merge_calls(Timeline timeline) {
  std::vector<TimedCall> merged;
  std::map<std::pair<TaskId, LaneId>, std::size_t> places;
  for (const TimedCall& call : timeline.calls) {
    const auto [place, is_new] = places.try_emplace({call.task, call.lane}, merged.size());
    if (is_new) {
      merged.push_back({.task = call.task,
                        .lane = call.lane,
                        .name = {},
                        .enqueued = call.enqueued,
                        .ran = call.ran,
                        .work = call.work});
      continue;
    }
    TimedCall& first = merged[place->second];
    first.enqueued = joined(first.enqueued, call.enqueued);
    first.ran = joined(first.ran, call.ran);
    first.work += call.work;
  }
  timeline.calls = std::move(merged);
  return timeline;
}

}  // namespace parbench
