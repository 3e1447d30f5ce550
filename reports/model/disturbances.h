// Disturbances of a case's measurement: throttled devices, a CPU quota, and cores taken by other
// programs or by other devices of the run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether so many samples are marked as throttled that the case's numbers need a warning.
[[nodiscard]] bool is_throttled(const CaseResult& c);

/// Adds the reasons for the throttling of a case ("power cap on cuda:0") to a list, each once; adds
/// none if the case needs no warning.
void add_throttles(std::vector<std::string>& known, const CaseResult& c);

/// A quota is reported if it withholds at least this share of the CPU time: half of the change that
/// comparisons count by default.
constexpr double min_quota_lost = 0.01;

/// Returns whether the CPU quota withheld so much CPU time that the case's times need a warning.
[[nodiscard]] inline bool is_over_quota(const CaseResult& c) {
  return c.quota_lost >= min_quota_lost;
}

/// Returns "CPU quota (up to 74% of the CPU time)" for the largest share of several cases.
[[nodiscard]] std::string quota_text(double largest_lost);

/// Returns the share of the wanted core time that other programs had: the denied share minus the
/// share that the quota withheld, at most the share of the cores that other programs used.
[[nodiscard]] double taken_by_others(const ThreadUse& use, double quota_lost);

/// Returns the largest share over a case's devices of the wanted core time that other programs had
/// (`taken_by_others`). Limited to the share of the time in which the device's threads waited for a
/// core, so that a mostly idle device counts little. 0 if unknown.
[[nodiscard]] double cores_taken(const CaseResult& c);

/// Returns whether other programs had the case's cores so often that its times need a warning.
[[nodiscard]] inline bool are_cores_taken(const CaseResult& c) {
  return cores_taken(c) >= min_cores_taken;
}

/// Returns whether other programs or a quota denied a case its cores so often that the times do not
/// show what limits the case.
[[nodiscard]] inline bool is_disturbed(const CaseResult& c) {
  return are_cores_taken(c) || c.quota_lost >= min_cores_taken;
}

/// Returns whether the samples of a case disprove its bound: the efficiency exceeds
/// `max_credible_efficiency`, or more than a quarter of the samples take at most 85% of the bound.
/// Then something, such as programs that have ended since, disturbed the tasks when they were
/// measured alone.
[[nodiscard]] bool is_bound_disproved(const CaseResult& c);

/// Counts of the cores that devices use; in `different`, a core of several devices counts once.
struct DeviceCores {
  std::size_t different = 0;
  std::size_t sum = 0;  // sum over the devices

  [[nodiscard]] bool are_shared() const { return sum > different; }
};

/// Counts the cores of devices; equal numbers on different hosts are different cores. Leaves out
/// devices that combine others (Device::combines).
[[nodiscard]] DeviceCores cores_of(const std::vector<Device>& devices);

/// Returns the devices of a report on which a scenario ran.
[[nodiscard]] std::vector<Device> devices_of(const Report& report, std::string_view scenario);

}  // namespace parbench::report
