// What disturbed the measurement of a case: throttled devices, a CPU quota, and cores that other
// programs or other devices of the run had.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether so many samples of the case are marked that its numbers need a warning.
[[nodiscard]] bool is_throttled(const CaseResult& c);

/// Adds the reasons that throttled the case ("power cap on cuda:0") to a list, each once;
/// nothing for a case that needs no warning.
void add_throttles(std::vector<std::string>& known, const CaseResult& c);

/// A quota that withheld a smaller share of the CPU time is not reported: half of the change that
/// comparisons count by default.
constexpr double min_quota_lost = 0.01;

/// Returns whether the CPU quota withheld so much of the CPU time of a case that its times need a
/// warning.
[[nodiscard]] inline bool is_over_quota(const CaseResult& c) {
  return c.quota_lost >= min_quota_lost;
}

/// Returns "CPU quota (up to 74% of the CPU time)", with the largest share of some cases.
[[nodiscard]] std::string quota_text(double largest_lost);

/// Returns the share of the time that threads wanted a core for which other programs had it: what
/// they were denied, as far as other programs used cores and no quota withheld them.
[[nodiscard]] double taken_by_others(const ThreadUse& use, double quota_lost);

/// Returns the largest share over the devices of a case of the time for which other programs had
/// the cores that its threads wanted: what these were denied, as far as other programs used cores
/// and no quota withheld them, for threads also wait for each other; at most the share of the time
/// for which they waited, so that a device that hardly works counts little. 0 where that is not
/// known.
[[nodiscard]] double cores_taken(const CaseResult& c);

/// Returns whether other programs had the cores of a case so often that its times need a warning.
[[nodiscard]] inline bool are_cores_taken(const CaseResult& c) {
  return cores_taken(c) >= min_cores_taken;
}

/// Returns whether other programs or a quota denied a case its cores so often that its times do not
/// show what limits it.
[[nodiscard]] inline bool is_disturbed(const CaseResult& c) {
  return are_cores_taken(c) || c.quota_lost >= min_cores_taken;
}

/// Returns whether the samples of a case disprove its bound: its median by
/// `max_credible_efficiency`, or more than a quarter of them by far. Something disturbed the tasks
/// when they were measured alone, such as other programs that later left the cores.
[[nodiscard]] bool is_bound_disproved(const CaseResult& c);

/// Cores of some devices, as numbers of them.
struct DeviceCores {
  std::size_t different = 0;
  std::size_t sum = 0;  // over the devices

  [[nodiscard]] bool are_shared() const { return sum > different; }
};

/// Counts the cores of devices, those of each host apart. Without a device that has the cores of
/// others (Device::combines).
[[nodiscard]] DeviceCores cores_of(const std::vector<Device>& devices);

/// Returns the devices of a report on which a scenario ran.
[[nodiscard]] std::vector<Device> devices_of(const Report& report, std::string_view scenario);

}  // namespace parbench::report
