// One execution of a plan as it went: which call ran where, from when to when, and when the host
// enqueued it. Plain data; times are nanoseconds since the host began to enqueue the plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parbench::timeline {

using Nanoseconds = std::int64_t;

constexpr double seconds_of(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

/// From `begin` to, but without, `end`.
struct Span {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

enum class Kind { compute, copy, communication };
inline constexpr std::string_view kind_names[] = {"compute", "copy", "communication"};
[[nodiscard]] constexpr std::string_view name_of(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

/// A stream of a device.
struct Lane {
  std::string name;    // "cpu:0/compute"
  std::string device;  // "cpu:0"
};

struct Task {
  std::string name;
  Kind kind = Kind::compute;
  std::vector<std::size_t> lanes;  // one, or of a collective one for each rank
  std::vector<std::size_t> after;  // tasks that it waits for
};

/// One operation, copy or collective of a task, on one of its lanes.
struct Call {
  std::size_t task = 0;
  std::size_t lane = 0;
  std::string name;  // "convolution_forward"
  Span enqueued;     // of the host's call; of a graph, that of its launch
  Span ran;
  double flops = 0;  // by definition, of a collective on its first lane only
  double bytes = 0;
  // Of a call that runs on a library's reference implementation, else empty.
  std::string reference_kernel = {};  // "ref:any"
  std::string layer = {};             // its tensors: "source 24x20x28x28, weights 64x20x3x3, …"
};

/// Who enqueued: one thread of the host, a thread of each lane, or one thread a graph as a whole.
enum class Launch { one_thread, thread_per_lane, graph };

struct Timeline {
  Launch launch = Launch::one_thread;
  std::vector<Lane> lanes;
  std::vector<Task> tasks;
  std::vector<Call> calls;  // of a lane in the order in which they ran
  /// When the time that is measured begins, no later than the first call; 0 is when the host began
  /// to enqueue. What the host does before, such as waking a stream, is no part of what samples
  /// measure.
  Nanoseconds begin = 0;
  Nanoseconds end = 0;          // of the last call
  Nanoseconds clock_error = 0;  // how far times of two devices may be apart from each other
  std::size_t dropped = 0;      // calls that the record had no room for; metrics are then wrong
};

}  // namespace parbench::timeline
