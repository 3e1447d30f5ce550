// Recorded calls as payloads, with times on the clock of rank 0.
#include "bench/ranks/timeline_parts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

namespace parbench {

static void fields(Archive& archive, TimedCall& call) {
  archive(call.task, call.lane, call.name, call.enqueued, call.ran, call.work, call.layer,
          call.tensors, call.kernel, call.reference, call.team_waiting);
}

namespace {

/// The timeline of one rank, on the clock of rank 0.
struct TimelinePart {
  Nanoseconds begin = 0;
  Nanoseconds clock_error = 0;
  std::vector<TimedCall> calls;

  void fields(Archive& archive) { archive(begin, clock_error, calls); }
};

void shift(TimedCall& call, Nanoseconds by) {
  for (TimeSpan* span : {&call.enqueued, &call.ran}) {
    span->begin += by;
    span->end += by;
  }
}

}  // namespace

Timeline joined(RankTeam& team, const Recording& own) {
  const Nanoseconds ahead = nanoseconds_of(own.origin - team.clock().ahead);
  TimelinePart part{.begin = own.timeline.begin + ahead,
                    .clock_error = own.timeline.clock_error + nanoseconds_of(team.clock().error),
                    .calls = own.timeline.calls};
  for (TimedCall& call : part.calls) shift(call, ahead);

  Timeline all;
  all.graph = own.timeline.graph;
  Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
  for (TimelinePart& one : team.meet(part)) {
    if (one.calls.empty()) continue;
    origin = std::min(origin, one.begin);
    all.clock_error =
        std::max(all.clock_error, 2 * one.clock_error);  // the errors of two clocks add up
    std::ranges::move(one.calls, std::back_inserter(all.calls));
  }
  for (TimedCall& call : all.calls) {
    shift(call, -origin);
    all.begin = std::min(all.begin, call.ran.begin);
    all.end = std::max(all.end, call.ran.end);
  }
  std::ranges::stable_sort(all.calls, {}, [](const TimedCall& call) { return call.ran.begin; });
  return all;
}

}  // namespace parbench
