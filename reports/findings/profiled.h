// Figures of a profile that several rules need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/findings/roles.h"
#include "reports/model/disturbances.h"
#include "reports/model/report.h"

namespace parbench::report {

/// A measured case with a profile. Refers to the case.
class Profiled {
 public:
  explicit Profiled(const CaseResult& of) : case_(&of) {}

  [[nodiscard]] const CaseResult& of() const { return *case_; }
  [[nodiscard]] const Profile& profile() const { return *case_->profile; }
  [[nodiscard]] const TimelineMetrics& metrics() const { return profile().metrics; }
  [[nodiscard]] const std::string& name() const { return case_->name; }

  /// Devices that compute anything.
  [[nodiscard]] int computing_devices() const;
  /// Seconds of all computations, added up whether they run at once or not; their FLOPs.
  [[nodiscard]] double compute_seconds() const;
  [[nodiscard]] double compute_flops() const;
  /// FLOP per second of computing; 0 where nothing is known.
  [[nodiscard]] double compute_rate() const;
  /// Share of the time of all computing devices in which they compute.
  [[nodiscard]] double computing_share() const;
  /// How many streams were busy on average while any was.
  [[nodiscard]] double concurrency() const;
  /// Whether streams run at once, on one device or on several.
  [[nodiscard]] bool runs_at_once() const;
  /// Shares of the time of all computing devices in which they waited for the host or the queue
  /// although work was ready.
  [[nodiscard]] double launch_share() const;
  [[nodiscard]] double host_share() const;
  /// Whether waits for the host or the queue count: a tenth of that time.
  [[nodiscard]] bool is_launch_bound() const;
  /// The same in which a device waited for others, or had nothing left to do.
  [[nodiscard]] double bubble_share() const;

  /// The share of the time that is lost against as many devices as compute, each with its part of
  /// the baseline's time: the interval by the samples' speedup. Nothing where that has none.
  [[nodiscard]] std::optional<Interval> sampled_loss() const;

 private:
  [[nodiscard]] double share_of(double seconds) const;

  const CaseResult* case_;
};

/// When a task ended on the last of its lanes, and on which device.
struct TaskEnd {
  Nanoseconds time = 0;
  std::string device;
};

/// Returns the ends of all tasks, by task.
[[nodiscard]] std::vector<TaskEnd> ends_of(const Timeline& timeline);

/// "convolution_forward of layer1.0.conv1"; without a layer the tensors.
[[nodiscard]] std::string to_text(const CallMetrics& call);

/// FLOP per second of what two cases compute alike: without operations that do far more in the
/// first one, such as an update that every device runs in full.
struct LikeRates {
  double own = 0;
  double other = 0;
  double repeated_seconds = 0;  // the first one's, in the operations that are left out
};

[[nodiscard]] LikeRates rates_of_like_work(const Profiled& one, const Profiled& other);

/// The operations that do as much in a case as in another one and take longer, all devices and
/// calls together.
struct SlowerCalls {
  int count = 0;
  double extra = 0;                    // seconds of all of them
  const CallMetrics* worst = nullptr;  // the operation that takes most seconds longer
  double worst_seconds = 0;
  double worst_before = 0;  // in the other case
};

/// Returns the operations that take at least 5% longer in `one` than in `other`, by waits within
/// their teams of threads for at least the share `min_waiting` of what they lose.
[[nodiscard]] SlowerCalls slower_calls(const Profiled& one, const Profiled& other,
                                       double min_waiting = 0);

/// Returns "the largest part, 17%," or "all of it"; empty for a part that is too small to be named.
[[nodiscard]] std::string part_text(double part);

/// The cases of a scenario with a number and a profile, in the order of the report, which must
/// outlive this.
class ProfiledCases {
 public:
  ProfiledCases(const Report& report, const std::string& scenario);

  [[nodiscard]] const std::vector<Profiled>& all() const { return cases_; }
  /// Whether every case of the scenario with a number has a profile.
  [[nodiscard]] bool are_complete() const { return complete_; }
  [[nodiscard]] const Roles& roles() const { return roles_; }
  /// Those of the scenario's devices.
  [[nodiscard]] const DeviceCores& cores() const { return cores_; }
  /// Whether the devices of the scenario have all cores of the host. False where that is not known.
  [[nodiscard]] bool have_all_cores() const {
    return cores_online_ > 0 && cores_.different >= cores_online_;
  }
  [[nodiscard]] bool are_cpu_devices() const { return cores_.different > 0; }
  /// The best rate of a device of the scenario at something; null where it is not known.
  [[nodiscard]] const Peak* peak(const std::string& device, std::string_view what) const;
  /// Null for a case that is not among them.
  [[nodiscard]] const Profiled* find(const std::string& name) const;
  /// The case that a speedup is measured against; null where it has no profile that represents its
  /// samples.
  [[nodiscard]] const Profiled* baseline_of(const Profiled& one) const;
  /// Returns the case with the largest micro-batches of those that differ in their size alone; null
  /// where it is this one, its micro-batches have no single size, or its profile does not represent
  /// its samples.
  [[nodiscard]] const Profiled* largest_micro_batches(const Profiled& one) const;

 private:
  Roles roles_;
  DeviceCores cores_;
  std::size_t cores_online_ = 0;
  bool complete_ = true;
  std::vector<const Device*> devices_;
  std::vector<Profiled> cases_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> largest_micro_batches_;  // by what such cases share
};

}  // namespace parbench::report
