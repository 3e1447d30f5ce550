// Conditions of devices around samples: when they are read, and which samples they mark.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/sampling/conditions/core_use.h"
#include "kernels/base/cpu_quota.h"
#include "kernels/core/device.h"
#include "reports/model/machine_info.h"
#include "reports/model/report.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// Samples below this share of the clock under load are marked. nvbench discards samples below the
/// same share.
inline constexpr double min_clock_share = 0.75;

/// Facts about the time between the readings before and after a sample.
struct Between {
  double seconds = 0;
  double cores = 1;                   // cores of the device, or of its host threads
  std::optional<double> others = {};  // average number of cores used by other programs
};

/// Returns the condition of a device around a sample, from the readings before and after it. The
/// sample is marked if either reading shows throttling, if a throttle counter has increased in
/// between, and with "low clock" if the higher of the two clocks is low, unless the device was at
/// rest. Nothing for a device without sensors.
[[nodiscard]] std::optional<report::SampleCondition> sample_condition(const std::string& device,
                                                                      const Condition& before,
                                                                      const Condition& after,
                                                                      const Between& between);

/// Reads the devices of a plan and the effect of the process's CPU quota before and after a sample,
/// outside of the timed part. Reading devices takes at most a small share of the time since the
/// first reading: if it takes long, some samples have no readings. Reading the quota takes only
/// microseconds, so it is read around every sample.
class ConditionWatch {
 public:
  /// `now`: seconds. `root`: folder with proc and sys, for the quota. `own`: the run's other
  /// processes on this host.
  explicit ConditionWatch(std::function<double()> now, const std::filesystem::path& root = "/",
                          std::vector<OwnProcess> own = {})
      : now_(std::move(now)), own_(std::move(own)), quota_(root) {}

  void before(const Plan& plan);
  /// Sets `conditions` and `quota_lost` of the sample since `before`, as far as they were read.
  void after(report::Sample& sample);

 private:
  struct Reading {
    const Device* device = nullptr;
    std::vector<const Stream*> streams;  // the plan's streams on this device
    Condition before;
  };
  [[nodiscard]] Condition timed_reading(const Reading& reading);
  void read_devices(const Plan& plan);
  [[nodiscard]] std::vector<report::SampleCondition> conditions_since();
  [[nodiscard]] std::optional<CoreUse> timed_use();

  static constexpr double max_time_share = 0.02;

  std::function<double()> now_;
  std::optional<double> begin_;
  double spent_ = 0;
  double read_ = 0;  // when `before` had read the devices
  std::vector<int> cores_ = report::cores_allowed();
  std::vector<OwnProcess> own_;
  std::optional<CoreUse> use_;  // use of cores at `read_`
  CpuQuota quota_;
  std::vector<CoreTime> core_times_;  // core times of groups with a quota, before the sample
  std::vector<Reading> readings_;
};

}  // namespace parbench
