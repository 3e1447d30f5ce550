// Figures of a profile that several rules use.
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

/// A measured case with a profile. The case must outlive the object.
class Profiled {
 public:
  explicit Profiled(const CaseResult& of) : case_(&of) {}

  [[nodiscard]] const CaseResult& of() const { return *case_; }
  [[nodiscard]] const Profile& profile() const { return *case_->profile; }
  [[nodiscard]] const TimelineMetrics& metrics() const { return profile().metrics; }
  [[nodiscard]] const std::string& name() const { return case_->name; }

  /// Returns the number of devices that compute anything.
  [[nodiscard]] int computing_devices() const;
  /// Return the seconds of all computations, added up even if they overlap, and their FLOPs.
  [[nodiscard]] double compute_seconds() const;
  [[nodiscard]] double compute_flops() const;
  /// Returns the FLOP per second of computing time; 0 if unknown.
  [[nodiscard]] double compute_rate() const;
  /// Returns the share of the computing devices' time in which they compute.
  [[nodiscard]] double computing_share() const;
  /// Returns the mean number of busy streams while at least one is busy.
  [[nodiscard]] double concurrency() const;
  /// Returns whether streams run at once, on one device or on several.
  [[nodiscard]] bool runs_at_once() const;
  /// Return the share of the computing devices' time in which work was ready, but waited:
  /// `launch_share` for the host or the queue, `host_share` for the host.
  [[nodiscard]] double launch_share() const;
  [[nodiscard]] double host_share() const;
  /// Returns whether `launch_share` is at least a tenth.
  [[nodiscard]] bool is_launch_bound() const;
  /// Returns the share of the computing devices' time in which they waited for other devices or had
  /// nothing left to do.
  [[nodiscard]] double bubble_share() const;

  /// Returns the interval of 1 − speedup/devices: the share of the time that is lost compared with
  /// an ideal division of the baseline's time among the computing devices. Nothing if the speedup
  /// has no interval.
  [[nodiscard]] std::optional<Interval> sampled_loss() const;

 private:
  [[nodiscard]] double share_of(double seconds) const;

  const CaseResult* case_;
};

/// The end of a task on the lane that ends last, and the device of that lane.
struct TaskEnd {
  Nanoseconds time = 0;
  std::string device;
};

/// Returns the ends of all tasks, by task.
[[nodiscard]] std::vector<TaskEnd> ends_of(const Timeline& timeline);

/// Returns "convolution_forward of layer1.0.conv1"; without a layer, the name and the tensors in
/// parentheses.
[[nodiscard]] std::string to_text(const CallMetrics& call);

/// The computing rates of two cases in FLOP/s. Excludes operations that only one of them has, and
/// those that do far more in the first case, such as an update that every device runs in full.
struct LikeRates {
  double own = 0;
  double other = 0;
  double seconds = 0;  // time of the first case in the operations that are not excluded
};

[[nodiscard]] LikeRates rates_of_like_work(const Profiled& one, const Profiled& other);

/// Operations that take longer in the first of two cases, although their FLOPs (if unknown, their
/// bytes) are less than 1.5 times those in the second. Times are sums over all devices and calls.
struct SlowerCalls {
  int count = 0;
  double extra = 0;  // additional seconds of all these operations
  /// The longest call of the operation with the most additional seconds.
  const CallMetrics* worst = nullptr;
  double worst_seconds = 0;
  double worst_before = 0;  // seconds of that operation in the other case
};

/// Returns the operations that take at least 5% longer in `one` than in `other`, if waits within
/// their teams of threads explain at least the share `min_waiting` of the difference.
[[nodiscard]] SlowerCalls slower_calls(const Profiled& one, const Profiled& other,
                                       double min_waiting = 0);

/// Returns "the largest part, 17%," or "all of it"; empty if the part is too small to mention.
[[nodiscard]] std::string part_text(double part);

/// The cases of a scenario that have a number and a profile, in the order of the report. The report
/// must outlive the object.
class ProfiledCases {
 public:
  ProfiledCases(const Report& report, const std::string& scenario);

  [[nodiscard]] const std::vector<Profiled>& all() const { return cases_; }
  /// Returns whether every case of the scenario with a number has a profile.
  [[nodiscard]] bool are_complete() const { return complete_; }
  [[nodiscard]] const Roles& roles() const { return roles_; }
  [[nodiscard]] const DeviceCores& cores() const { return cores_; }
  /// Returns whether the scenario's devices use all cores of the host; false if unknown.
  [[nodiscard]] bool have_all_cores() const {
    return cores_online_ > 0 && cores_.different >= cores_online_;
  }
  [[nodiscard]] bool are_cpu_devices() const { return cores_.different > 0; }
  /// Returns a device's peak of the given kind; null if unknown.
  [[nodiscard]] const Peak* peak(const std::string& device, std::string_view what) const;
  /// Returns the case with that name; null if it has no number or no profile.
  [[nodiscard]] const Profiled* find(const std::string& name) const;
  /// Returns the baseline of a case's speedup; null without a speedup, or if the baseline has no
  /// profile that represents its samples.
  [[nodiscard]] const Profiled* baseline_of(const Profiled& one) const;
  /// Returns the case with the largest micro-batches among the profiled cases that differ from
  /// `one` at most in that size. Null if this case is `one` itself or its profile does not
  /// represent its samples, or if `one` has no single micro-batch size.
  [[nodiscard]] const Profiled* largest_micro_batches(const Profiled& one) const;

 private:
  Roles roles_;
  DeviceCores cores_;
  std::size_t cores_online_ = 0;
  bool complete_ = true;
  std::vector<const Device*> devices_;
  std::vector<Profiled> cases_;
  std::unordered_map<std::string, std::size_t> by_name_;
  // index in `cases_` of the case with the largest micro-batches, by the key without their size
  // (`Roles::key_without`)
  std::unordered_map<std::string, std::size_t> largest_micro_batches_;
};

}  // namespace parbench::report
