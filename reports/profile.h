// What a look at one execution of a case told: busy and idle devices, gaps, the critical path.
// reports/timeline/metrics.h defines the figures; times are seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace parbench::report {

/// Time in which nothing ran before a call, by what the call waited for last.
struct Waits {
  double dependency = 0;  // other tasks had to end
  double host = 0;        // the host had not enqueued the call
  double queue = 0;       // neither
  friend bool operator==(const Waits&, const Waits&) = default;
};

struct DeviceProfile {
  std::string device;
  double busy = 0;                   // something runs
  double idle = 0;                   // nothing does, in the whole execution
  double bubble = 0;                 // of that, between its first and last call
  Waits waits;                       // of idle, before calls; the rest follows the last one
  double compute = 0;                // a computation runs
  double copy = 0;                   // a copy
  double communication = 0;          // a collective, or a message between devices
  double exposed_copy = 0;           // of these, while it computes nothing
  double exposed_communication = 0;  // the same
  double overlapped = 0;             // a copy or communication runs beside a computation
  friend bool operator==(const DeviceProfile&, const DeviceProfile&) = default;
};

/// A stream. The same of it alone, whatever else runs on its device.
struct LaneProfile {
  std::string name;  // "cpu:0/compute"
  std::string device;
  Waits waits;
  friend bool operator==(const LaneProfile&, const LaneProfile&) = default;
};

/// A task on one of its lanes, from its first call to its last.
struct TaskSpan {
  int task = 0;  // a task with several lanes has a span on each
  std::string name;
  std::string kind;  // "compute", "copy", "communication"
  int lane = 0;      // its place among the lanes
  double begin = 0;
  double end = 0;
  double enqueued = 0;     // when the host had done so
  std::vector<int> after;  // tasks that it waits for
  double flops = 0;        // of its calls on this lane; 0 where nothing is counted
  double bytes = 0;        // the least that they read and write
  friend bool operator==(const TaskSpan&, const TaskSpan&) = default;
};

/// A report tells single tasks of plans that have no more.
constexpr int most_reported_tasks = 2000;

/// The chain of causes from the beginning to the last call.
struct CriticalPath {
  double compute = 0;
  double copy = 0;
  double communication = 0;
  double host = 0;
  double queue = 0;
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// All calls of one name that are of one kind.
struct CallProfile {
  std::string name;  // "convolution_forward"
  std::string kind;  // "compute", "copy", "communication"
  int count = 0;
  double seconds = 0;     // together
  double enqueueing = 0;  // the host's seconds for them, where it did not launch them as a graph
  double flops = 0;
  double bytes = 0;
  friend bool operator==(const CallProfile&, const CallProfile&) = default;
};

/// Calls that run on a library's reference implementation: a plain loop, often a hundred times
/// slower than an optimised kernel.
struct ReferenceCalls {
  std::string name;    // "convolution_backward_data"
  std::string layer;   // its tensors: "diff_destination 24x64x28x28, weights 64x20x3x3, …"
  std::string kernel;  // "ref:any"
  int count = 0;
  double seconds = 0;  // together
  friend bool operator==(const ReferenceCalls&, const ReferenceCalls&) = default;
};

/// Ratios of the idle time of all devices.
struct BubbleRatio {
  double of_total = 0;  // over the time of all devices: (p − 1)/(m + p − 1) of an ideal pipeline
  double of_busy = 0;   // over the time in which they were busy: (p − 1)/m
  friend bool operator==(const BubbleRatio&, const BubbleRatio&) = default;
};

/// Where the time of several devices goes beside an ideal, which is the baseline's computation
/// divided among them without loss. Seconds of the execution that was looked at, means over the
/// devices; the parts add up to its span less the ideal.
struct Losses {
  double ideal = 0;         // the baseline's time of computing, over the number of devices
  double slower_calls = 0;  // the same work takes longer: smaller chunks, shared memory bandwidth
  double imbalance = 0;     // the busiest device computes longer than the mean
  double bubble = 0;        // waiting for other devices beyond that
  double copies = 0;        // copies and communication while the device computes nothing
  double launch = 0;        // the host or the queue was late
  friend bool operator==(const Losses&, const Losses&) = default;
};

/// Of the execution that took the median time of those that were looked at; none of them is a
/// sample.
struct Profile {
  int executions = 0;
  double median = 0;  // of their times, measured like those of samples
  /// By what share this one took longer than the median of the samples (negative: shorter). Only
  /// where that is far, and looking again, as far as there was time, found none that is nearer:
  /// what is told here may not hold of the samples.
  std::optional<double> deviation;
  double seconds_per_call = 0;  // that looking adds to each call
  double span = 0;              // from when measured time begins to the end of the last call
  double clock_error = 0;       // how far times of two devices may be apart; 0: they share a clock
  std::vector<DeviceProfile> devices;
  BubbleRatio bubble_ratio;
  std::vector<double> streams_busy;  // [k]: exactly k of them were
  std::vector<LaneProfile> lanes;
  CriticalPath critical_path;
  std::vector<CallProfile> calls;               // the longest first
  std::vector<ReferenceCalls> reference_calls;  // of these; the longest first
  std::vector<TaskSpan> tasks;                  // by their beginning; none of a plan with very many
  std::optional<Losses> losses;  // where a baseline on fewer devices was profiled too
  friend bool operator==(const Profile&, const Profile&) = default;
};

/// "the execution that was looked at took 23% longer than the median of the samples"; empty where
/// it is near.
[[nodiscard]] std::string deviation_text(const Profile& profile);

}  // namespace parbench::report
