// The profile of a case: metrics and timeline of one execution in which every call was recorded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/plan/metrics.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {

/// Losses of several devices compared with the ideal: the baseline's time, divided among the
/// devices. Seconds of the profiled execution, means over the devices. The parts add up to the span
/// minus the ideal, so that their share of the span is 1 − speedup / devices. Slower calls, copies
/// and launch are the amounts beyond those of the ideal.
struct Losses {
  /// The span times the speedup of the samples, divided by the number of devices.
  double ideal = 0;
  double slower_calls = 0;  // longer calls, for example by smaller micro-batches
  double imbalance = 0;     // the busiest device computes longer than the mean
  double bubble = 0;        // other idle time, such as waits for other devices
  double copies = 0;        // copies and communication while the device does not compute
  double launch = 0;        // waits for the host or the queue
  friend bool operator==(const Losses&, const Losses&) = default;
};

/// The profile of the execution whose time is nearest to the median of the samples, out of all
/// profiled executions. No profiled execution is a sample.
struct Profile {
  int executions = 0;
  double median = 0;  // median time of the profiled executions
  /// The share by which this execution took longer (negative: shorter) than the median of the
  /// samples. Only set if it exceeds the limit of the profiling pass: then the profile may not
  /// represent the samples.
  std::optional<double> deviation;
  double seconds_per_call = 0;  // overhead of recording a call
  TimelineMetrics metrics;
  /// The timeline with the calls of each task merged; none for a plan with more than
  /// `max_reported_tasks`.
  std::optional<Timeline> timeline;
  std::optional<Losses> losses;  // none without a profiled baseline on one device, see `losses_of`
  friend bool operator==(const Profile&, const Profile&) = default;
};

constexpr std::size_t max_reported_tasks = 2000;

/// Returns "took 23% longer than the median sample"; empty if the profile represents the samples.
[[nodiscard]] std::string deviation_text(const Profile& profile);

}  // namespace parbench::report
