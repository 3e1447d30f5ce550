// One execution of a plan, measured or simulated: where and when each call ran, and when the host
// enqueued it. Data only; times are nanoseconds since the host began to enqueue the plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/plan/graph.h"

namespace parbench {

using Nanoseconds = std::int64_t;

constexpr double seconds_of(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }
[[nodiscard]] Nanoseconds nanoseconds_of(double seconds);

/// The half-open interval [begin, end).
struct TimeSpan {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// One operation, copy or collective of a task (or all calls of a task joined) on one of its lanes.
struct TimedCall {
  TaskId task = 0;
  LaneId lane = 0;
  std::string name;        // "convolution_forward"; empty for joined calls
  TimeSpan enqueued = {};  // time of the host's enqueueing; for a graph, of the graph's launch
  TimeSpan ran;
  Work work = {};            // for a collective, only on its first lane
  std::string layer = {};    // layer of the network, if the call belongs to one: "layer1.0.conv1"
  std::string tensors = {};  // operations only: "source 24x20x28x28, weights 64x20x3x3, …"
  std::string kernel = {};   // operations only: name in the library, "brgconv:avx512_core"
  bool reference = false;    // whether `kernel` is the library's reference implementation
  Nanoseconds team_waiting = 0;  // mean idle time of the threads of its OpenMP team
  friend bool operator==(const TimedCall&, const TimedCall&) = default;
};

struct Timeline {
  PlanGraph graph;
  std::vector<TimedCall> calls;  // sorted by beginning; calls of a lane in the order of execution
  /// Beginning of measured time, at or before the first call. Earlier work of the host, such as
  /// waking a stream, is not part of samples.
  Nanoseconds begin = 0;
  Nanoseconds end = 0;          // end of the last call
  Nanoseconds clock_error = 0;  // maximum difference between the clocks of two devices

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// Removes the time in which lanes wait for each other: a message or collective begins on every
/// lane when it begins on the last lane. A call that has ended before that, such as the sender's
/// call of a short message, is unchanged.
[[nodiscard]] Timeline begin_together(Timeline timeline);

/// Joins the calls of each task into one call per lane.
[[nodiscard]] Timeline merge_calls(Timeline timeline);

}  // namespace parbench
