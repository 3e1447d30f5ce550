// Metrics of a timeline, in seconds. Busy, idle and overlapped times are exact: unions and
// intersections of the intervals in which calls ran, computed in whole nanoseconds. Waits and the
// critical path explain them. Their sums are exact, too, but the cause of a wait is inferred from
// the plan and from the host's enqueueing: the last event for which the call had to wait.
#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Idle time before calls by cause. Before each call, waiting for other tasks comes first, then
/// waiting for the host, then the rest.
struct Waits {
  double dependency = 0;  // a task that it waits for had not ended
  double host = 0;        // all those tasks had ended, but the host had not enqueued the call
  double queue = 0;       // the call could have run: wake-ups, launch latency, other users

  [[nodiscard]] double total() const { return dependency + host + queue; }
  friend bool operator==(const Waits&, const Waits&) = default;
};

/// Metrics of all lanes of one device. Each comment describes the times that are summed.
struct DeviceMetrics {
  std::string device;
  double busy = 0;           // at least one call runs
  double idle = 0;           // no call runs, between the beginning and the end of the timeline
  double bubble = 0;         // part of idle between the device's first and last call
  Waits waits;               // part of idle before calls; the rest follows the last call
  double compute = 0;        // a computation runs
  double copy = 0;           // a copy runs
  double communication = 0;  // a collective, or a message between devices, runs
  double exposed_copy = 0;   // a copy runs, but no computation on this device
  double exposed_communication = 0;  // communication runs, but no computation on this device
  double overlapped = 0;             // a computation runs during a copy or communication
  friend bool operator==(const DeviceMetrics&, const DeviceMetrics&) = default;
};

/// Metrics of one lane, independent of other lanes of its device.
struct LaneMetrics {
  std::string name;  // "cpu:0/compute"
  std::string device;
  Waits waits;
  friend bool operator==(const LaneMetrics&, const LaneMetrics&) = default;
};

/// The chain of causes from the last call back to the beginning: each call waited last for the end
/// of another call, or for the host.
struct CriticalPath {
  double compute = 0;
  double copy = 0;
  double communication = 0;
  double host = 0;   // from the beginning until the host had enqueued the first call of the chain
  double queue = 0;  // waiting without a cause in the timeline

  [[nodiscard]] double total() const { return compute + copy + communication + host + queue; }
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// Ratio of the idle time of all devices, with its value for an ideal pipeline of p stages and m
/// micro-batches.
struct BubbleRatio {
  double of_total = 0;  // relative to the whole time of all devices: (p − 1)/(m + p − 1)
  double of_busy = 0;   // relative to their busy time: (p − 1)/m
  friend bool operator==(const BubbleRatio&, const BubbleRatio&) = default;
};

/// Sums over all calls with the same name, kind, kernel and layer (without a layer: with the same
/// tensors).
struct CallMetrics {
  std::string name;  // "convolution_forward"
  TaskKind kind = TaskKind::compute;
  std::string layer = {};  // "layer1.0.conv1"; may be empty
  /// Tensors of the first call: "source 24x20x28x28, …". Empty for calls of a layer, of which a
  /// network has hundreds, unless they use a reference implementation.
  std::string tensors = {};
  std::string kernel = {};  // "brgconv:avx512_core"; may be empty
  bool reference = false;   // a plain loop, often a hundred times slower than an optimised kernel
  int count = 0;
  double seconds = 0;
  double enqueueing = 0;    // host seconds for enqueueing them; 0 if they were launched as a graph
  double team_waiting = 0;  // sum of TimedCall::team_waiting
  double flops = 0;
  double bytes = 0;
  friend bool operator==(const CallMetrics&, const CallMetrics&) = default;
};

struct TimelineMetrics {
  double span = 0;         // from the beginning of the timeline to the end of the last call
  double clock_error = 0;  // maximum difference between the clocks of two devices
  std::vector<DeviceMetrics> devices;  // in the order of their first lanes
  BubbleRatio bubble_ratio;
  std::vector<double> streams_busy;  // [k]: time for which exactly k lanes were busy
  std::vector<LaneMetrics> lanes;
  CriticalPath critical_path;
  std::vector<CallMetrics> calls;  // sorted by decreasing seconds
  /// Bytes that devices send divided by the time in which they communicate, both summed over
  /// devices. For a ring all-reduce this is 2(p − 1)/p times its size divided by its time, as
  /// nccl-tests defines it. 0: nothing is sent.
  double bus_bandwidth = 0;
  friend bool operator==(const TimelineMetrics&, const TimelineMetrics&) = default;
};

[[nodiscard]] TimelineMetrics metrics_of(const Timeline& timeline);

}  // namespace parbench
