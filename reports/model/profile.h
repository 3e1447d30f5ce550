// The profile of a case: metrics and tasks of one execution in which every call was recorded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/plan/metrics.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {

/// Losses of several devices compared with an ideal, which is the baseline's time divided among
/// them without loss, as the samples' speedup gives it. Seconds of the profiled execution, means
/// over the devices; the parts add up to its span less the ideal, so that their share of the span
/// is 1 − speedup / devices. Calls, copies and launching are what is beyond those of the ideal.
struct Losses {
  double ideal = 0;         // the span times the speedup, over the number of devices
  double slower_calls = 0;  // work takes longer: smaller micro-batches, shared memory bandwidth
  double imbalance = 0;     // the busiest device computes longer than the mean
  double bubble = 0;        // waiting for other devices beyond that
  double copies = 0;        // copies and communication while the device computes nothing
  double launch = 0;        // the host or the queue was late
  friend bool operator==(const Losses&, const Losses&) = default;
};

/// The profile of the execution whose time is nearest to the median of the samples among all
/// profiled ones, none of which is a sample.
struct Profile {
  int executions = 0;
  double median = 0;  // of the profiled executions' times
  /// By what share this execution took longer than the median of the samples (negative: shorter).
  /// Only where that is more than the profiling pass allows: the profile may not represent the
  /// samples.
  std::optional<double> deviation;
  double seconds_per_call = 0;  // overhead of recording
  TimelineMetrics metrics;
  /// With the calls of each task merged; none of a plan with more than max_reported_tasks.
  std::optional<Timeline> timeline;
  std::optional<Losses> losses;  // where a baseline on fewer devices was profiled too
  friend bool operator==(const Profile&, const Profile&) = default;
};

constexpr std::size_t max_reported_tasks = 2000;

/// "took 23% longer than the median sample"; empty where the profile represents the samples.
[[nodiscard]] std::string deviation_text(const Profile& profile);

}  // namespace parbench::report
