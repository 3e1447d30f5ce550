// The condition of devices around samples: when it is read, and which samples it marks.
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

/// A sample at a clock below this share of the one that the device holds under load is marked. The
/// share is that of nvbench, which discards such samples.
inline constexpr double min_clock_share = 0.75;

/// What lies between the readings before and after a sample.
struct Between {
  double seconds = 0;
  double cores = 1;                   // that the device computes on, or of its host threads
  std::optional<double> others = {};  // cores that other programs used, on average
};

/// Returns the condition of a device around a sample, from the readings before and after it. The
/// sample is marked for what throttles the device in either, for counters
/// that have risen in between, and with "low clock" where the higher of the two clocks is low,
/// unless the device was at rest. Nothing for a device without sensors.
[[nodiscard]] std::optional<report::SampleCondition> sample_condition(const std::string& device,
                                                                      const Condition& before,
                                                                      const Condition& after,
                                                                      const Between& between);

/// Reads the devices of a plan, and what the CPU quota of this process withholds, before and after
/// a sample, outside what is timed. Readings of devices take at most a small share of the time
/// since the first of them: where they take long, samples in between have none. The quota is read
/// around every sample: that takes microseconds, but it may hold up the readings of devices.
class ConditionWatch {
 public:
  /// `now`: seconds. `root`: the folder that holds proc and sys. `own`: processes of the run beside
  /// this one, on this host.
  explicit ConditionWatch(std::function<double()> now, const std::filesystem::path& root = "/",
                          std::vector<OwnProcess> own = {})
      : now_(std::move(now)), own_(std::move(own)), quota_(root) {}

  void before(const Plan& plan);
  /// Fills `conditions` and `quota_lost` of the sample since `before`, as far as that read them.
  void after(report::Sample& sample);

 private:
  struct Reading {
    const Device* device = nullptr;
    std::vector<const Stream*> streams;  // of the plan, on this device
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
  double read_ = 0;  // when `before` had read
  std::vector<int> cores_ = report::cores_allowed();
  std::vector<OwnProcess> own_;
  std::optional<CoreUse> use_;  // until then
  CpuQuota quota_;
  std::vector<CoreTime> core_times_;  // of its groups, until the sample
  std::vector<Reading> readings_;
};

}  // namespace parbench
