// Metrics of a timeline, in seconds. Busy, idle and overlapped times are exact: unions and
// intersections of the intervals in which calls ran, computed in whole nanoseconds. Waits and the
// critical path explain them: they are exact sums too, but of causes that are taken from the plan
// and from when the host enqueued, the one that ended last each time.
#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench {

/// Time in which nothing runs before a call, by what the call waited for last: first for other
/// tasks, then for the host, then for neither.
struct Waits {
  double dependency = 0;  // a task that it waits for had not ended
  double host = 0;        // those had, and the host had not enqueued it
  double queue = 0;       // it could have run: wake-ups, launch latency, other users

  [[nodiscard]] double total() const { return dependency + host + queue; }
  friend bool operator==(const Waits&, const Waits&) = default;
};

/// All lanes of one device.
struct DeviceMetrics {
  std::string device;
  double busy = 0;                   // at least one call runs
  double idle = 0;                   // none does, from the beginning to the end of the timeline
  double bubble = 0;                 // of idle, between the device's first and last call
  Waits waits;                       // of idle, before calls; the rest follows the last call
  double compute = 0;                // a computation runs
  double copy = 0;                   // a copy runs
  double communication = 0;          // a collective, or a message between devices, runs
  double exposed_copy = 0;           // a copy runs, and no computation on this device
  double exposed_communication = 0;  // the same of communication
  double overlapped = 0;             // a copy or communication runs, and a computation as well
  friend bool operator==(const DeviceMetrics&, const DeviceMetrics&) = default;
};

/// One lane alone, whatever else runs on its device.
struct LaneMetrics {
  std::string name;  // "cpu:0/compute"
  std::string device;
  Waits waits;
  friend bool operator==(const LaneMetrics&, const LaneMetrics&) = default;
};

/// The chain of causes that ends with the last call, back to the beginning: each call waited last
/// for the end of another, or for the host.
struct CriticalPath {
  double compute = 0;
  double copy = 0;
  double communication = 0;
  double host = 0;   // the host was enqueueing what came next
  double queue = 0;  // nothing that the timeline shows was waited for

  [[nodiscard]] double total() const { return compute + copy + communication + host + queue; }
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// Idle time of all devices.
struct BubbleRatio {
  double of_total = 0;  // over the time of all devices: (p − 1)/(m + p − 1) for an ideal pipeline
                        // of p stages and m micro-batches
  double of_busy = 0;  // over the time in which they were busy: (p − 1)/m
  friend bool operator==(const BubbleRatio&, const BubbleRatio&) = default;
};

/// All calls of one operation on one layer, or where there are no layers on tensors of the same
/// shapes, that run on the same kernel; all copies; all collectives of a kind.
struct CallMetrics {
  std::string name;  // "convolution_forward"
  TaskKind kind = TaskKind::compute;
  std::string layer = {};  // "layer1.0.conv1"; may be empty
  /// "source 24x20x28x28, …", of the first of them. Only without a layer and for a reference
  /// implementation: a network has hundreds of rows.
  std::string tensors = {};
  std::string kernel = {};  // "brgconv:avx512_core"; may be empty
  bool reference = false;   // a plain loop, often a hundred times slower than an optimised kernel
  int count = 0;
  double seconds = 0;       // sum
  double enqueueing = 0;    // the host's seconds for them, unless it launched them as a graph
  double team_waiting = 0;  // sum of the means over the threads of OpenMP teams: without work
  double flops = 0;
  double bytes = 0;
  friend bool operator==(const CallMetrics&, const CallMetrics&) = default;
};

struct TimelineMetrics {
  double span = 0;                     // from the timeline's beginning to the end of the last call
  double clock_error = 0;              // maximum difference between the clocks of two devices
  std::vector<DeviceMetrics> devices;  // in the order of their first lanes
  BubbleRatio bubble_ratio;
  std::vector<double> streams_busy;  // [k]: for how long exactly k lanes were busy
  std::vector<LaneMetrics> lanes;
  CriticalPath critical_path;
  std::vector<CallMetrics> calls;  // by seconds, descending
  /// Bytes that devices send, over the time in which they communicate, both as sums over devices:
  /// of a ring all-reduce 2(p − 1)/p times its size over its time, as nccl-tests defines it. 0:
  /// none are sent.
  double bus_bandwidth = 0;
  friend bool operator==(const TimelineMetrics&, const TimelineMetrics&) = default;
};

[[nodiscard]] TimelineMetrics metrics_of(const Timeline& timeline);

}  // namespace parbench
