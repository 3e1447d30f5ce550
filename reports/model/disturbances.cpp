// Derives disturbances from the conditions and the samples of a case.
#include "reports/model/disturbances.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "kernels/base/units/units.h"
#include "scenarios/plan/graph.h"

namespace parbench::report {

bool is_throttled(const CaseResult& c) { return c.throttling && c.throttling->flagged; }

void add_throttles(std::vector<std::string>& known, const CaseResult& c) {
  if (!is_throttled(c)) return;
  for (const ThrottleReason& reason : c.throttling->reasons) {
    std::string text = fmt::format("{} on {}", reason.reason, reason.device);
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      known.push_back(std::move(text));
    }
  }
}

std::string quota_text(double largest_lost) {
  return fmt::format("CPU quota (up to {} of the CPU time)", format_percent(largest_lost, 0));
}

double taken_by_others(const ThreadUse& use, double quota_lost) {
  return std::max(0.0, std::min(use.denied.value_or(0) - quota_lost, use.others.value_or(0)));
}

double cores_taken(const CaseResult& c) {
  double share = 0;
  for (const CaseCondition& condition : c.conditions) {
    if (!condition.threads) continue;
    const ThreadUse& use = *condition.threads;
    const double taken = taken_by_others(use, c.quota_lost);
    share = std::max(share, use.threads > 0 ? std::min(taken, use.core_wait) : taken);
  }
  return share;
}

bool is_bound_disproved(const CaseResult& c) {
  constexpr double far_below = 0.85;  // max ratio to the bound of a sample that counts as too short
  if (!c.bound) return false;
  if (c.efficiency > max_credible_efficiency) return true;
  const auto undercut = std::ranges::count_if(c.samples, [&](const Sample& sample) {
    return sample.seconds <= far_below * c.bound->seconds;
  });
  return 4 * static_cast<std::size_t>(undercut) > c.samples.size();
}

DeviceCores cores_of(const std::vector<Device>& devices) {
  DeviceCores cores;
  std::set<std::pair<std::string_view, int>> different;
  for (const Device& device : devices) {
    if (!device.combines.empty()) continue;
    for (const int core : device.cores) different.emplace(host_of(device.name), core);
    cores.sum += device.cores.size();
  }
  cores.different = different.size();
  return cores;
}

std::vector<Device> devices_of(const Report& report, std::string_view scenario) {
  std::vector<Device> devices;
  std::ranges::copy_if(report.devices, std::back_inserter(devices),
                       [&](const Device& device) { return device.scenario == scenario; });
  return devices;
}

}  // namespace parbench::report
