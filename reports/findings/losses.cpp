// Means over the devices that compute.
#include "reports/findings/losses.h"

#include <algorithm>

namespace parbench::report {

std::optional<Losses> losses_of(const Profiled& one, const Profiled& baseline) {
  const int devices = one.computing_devices();
  if (devices < 2 || baseline.computing_devices() != 1) return std::nullopt;
  double compute = 0;
  double max = 0;
  double copies = 0;
  double launch = 0;
  double idle = 0;
  for (const DeviceMetrics& device : one.metrics().devices) {
    if (device.compute <= 0) continue;
    compute += device.compute / devices;
    max = std::max(max, device.compute);
    copies += (device.busy - device.compute) / devices;
    launch += (device.waits.host + device.waits.queue) / devices;
    idle += device.idle / devices;
  }
  const auto& alone = *std::ranges::find_if(
      baseline.metrics().devices, [](const DeviceMetrics& device) { return device.compute > 0; });
  Losses losses;
  losses.ideal = one.metrics().span * one.of().speedup->value / devices;
  const double scale = losses.ideal / baseline.metrics().span;
  losses.slower_calls = compute - scale * alone.compute;
  losses.copies = copies - scale * (alone.busy - alone.compute);
  losses.launch = launch - scale * alone.idle;
  losses.imbalance = std::min(max - compute, idle - launch);
  losses.bubble = idle - launch - losses.imbalance;
  return losses;
}

double total(const Losses& losses) {
  return losses.slower_calls + losses.imbalance + losses.bubble + losses.copies + losses.launch;
}

}  // namespace parbench::report
