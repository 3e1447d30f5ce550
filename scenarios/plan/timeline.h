// One execution of a plan, measured or simulated: which call ran where, from when to when, and when
// the host enqueued it. Plain data; times are nanoseconds since the host began to enqueue the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

using Nanoseconds = std::int64_t;

constexpr double seconds_of(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }
[[nodiscard]] Nanoseconds nanoseconds_of(double seconds);

/// From `begin` to, but without, `end`.
struct TimeSpan {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// One operation, copy or collective of a task, or all calls of a task, on one of its lanes.
struct TimedCall {
  TaskId task = 0;
  LaneId lane = 0;
  std::string name;        // "convolution_forward"; empty for all calls of a task together
  TimeSpan enqueued = {};  // the host's call; for a graph its launch
  TimeSpan ran;
  Work work = {};                // of a collective on its first lane only
  std::string layer = {};        // of a network, where the call belongs to one: "layer1.0.conv1"
  std::string tensors = {};      // of an operation: "source 24x20x28x28, weights 64x20x3x3, …"
  std::string kernel = {};       // of an operation, as its library names it: "brgconv:avx512_core"
  bool reference = false;        // whether that is the library's reference implementation
  Nanoseconds team_waiting = 0;  // mean over the threads of its OpenMP team: without work
  friend bool operator==(const TimedCall&, const TimedCall&) = default;
};

struct Timeline {
  PlanGraph graph;
  std::vector<TimedCall>
      calls;  // by their beginning; those of a lane in the order in which they ran
  /// When measured time begins, no later than the first call. What the host does before, such as
  /// waking a stream, is not part of what samples measure.
  Nanoseconds begin = 0;
  Nanoseconds end = 0;          // of the last call
  Nanoseconds clock_error = 0;  // maximum difference between the clocks of two devices

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// Removes from calls the time in which lanes wait for each other: a message or collective begins
/// on every lane of its task when it has begun on the last one, except where it has ended before,
/// as a short message does that is sent ahead.
[[nodiscard]] Timeline begin_together(Timeline timeline);

/// Returns the timeline with the calls of each task joined into one on each of its lanes.
[[nodiscard]] Timeline merge_calls(Timeline timeline);

}  // namespace parbench
