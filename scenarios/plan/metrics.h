// Metrics of a timeline, in seconds. Busy, idle and overlapped times are exact: unions and
// intersections of the intervals in which calls ran, in whole nanoseconds. The cause of a call's
// wait, on which the critical path depends, is inferred: the last event for which the call had to
// wait according to the plan and the host's enqueueing.
#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Idle time before calls by cause. The time before each call is divided in this order: until the
/// tasks on which the call depends have ended, until the host has enqueued it, until it begins.
struct Waits {
  double dependency = 0;  // a task on which the call depends had not ended
  double host = 0;        // the tasks had ended, but the host had not enqueued the call
  double queue = 0;       // the call was enqueued and ready: wake-ups, launch latency, other users

  [[nodiscard]] double total() const { return dependency + host + queue; }
  friend bool operator==(const Waits&, const Waits&) = default;
};

/// Metrics of all lanes of one device: total times during which the conditions in the comments
/// hold.
struct DeviceMetrics {
  std::string device;
  double busy = 0;     // at least one call runs
  double idle = 0;     // no call runs, between the beginning and the end of the timeline
  double bubble = 0;   // no call runs, between the device's first and last call
  Waits waits;         // `idle` before calls, by cause; excludes idle time after the last call
  double compute = 0;  // a computation runs
  double copy = 0;     // a copy runs
  double communication = 0;          // a collective, or a message between devices, runs
  double exposed_copy = 0;           // a copy runs, but no computation on this device
  double exposed_communication = 0;  // communication runs, but no computation on this device
  double overlapped = 0;             // a computation runs during a copy or communication
  friend bool operator==(const DeviceMetrics&, const DeviceMetrics&) = default;
};

/// Idle time before the calls of one lane, whether or not other lanes of the device are busy.
struct LaneMetrics {
  std::string name;  // "cpu:0/compute"
  std::string device;
  Waits waits;
  friend bool operator==(const LaneMetrics&, const LaneMetrics&) = default;
};

/// Seconds on the critical path: the chain of calls back from the call that ended last, in which
/// each call is preceded by the call for whose end it waited last. The chain begins with a call
/// that waited last for the host, or with one that waited for no other call.
struct CriticalPath {
  double compute = 0;
  double copy = 0;
  double communication = 0;
  double host = 0;   // from the beginning until the host had enqueued the first call of the chain
  double queue = 0;  // between the last cause of each call's wait and the beginning of the call

  [[nodiscard]] double total() const { return compute + copy + communication + host + queue; }
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// Idle time of all devices over another time. The comments give the value for an ideal pipeline of
/// p stages and m micro-batches.
struct BubbleRatio {
  double of_total = 0;  // over the whole time of all devices; ideal: (p − 1)/(m + p − 1)
  double of_busy = 0;   // over the busy time of all devices; ideal: (p − 1)/m
  friend bool operator==(const BubbleRatio&, const BubbleRatio&) = default;
};

/// Sums over all calls with the same name, kind, kernel and layer (without a layer: with the same
/// tensors).
struct CallMetrics {
  std::string name;  // "convolution_forward"
  TaskKind kind = TaskKind::compute;
  std::string layer = {};  // "layer1.0.conv1"; may be empty
  /// Tensors of the first of these calls: "source 24x20x28x28, …". Empty for calls of a layer,
  /// unless they use a reference implementation: a network has hundreds of such calls.
  std::string tensors = {};
  std::string kernel = {};  // "brgconv:avx512_core"; may be empty
  bool reference = false;   // TimedCall::reference of the first of these calls
  int count = 0;
  double seconds = 0;
  double enqueueing = 0;    // seconds of the host for enqueueing them; 0 if launched as a graph
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
