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
  Losses losses;
  for (const DeviceMetrics& device : baseline.metrics().devices) losses.ideal += device.compute;
  losses.ideal /= devices;
  losses.slower_calls = compute - losses.ideal;
  losses.copies = copies;
  losses.launch = launch;
  losses.imbalance = std::min(max - compute, idle - launch);
  losses.bubble = idle - launch - losses.imbalance;
  return losses;
}

double total(const Losses& losses) {
  return losses.slower_calls + losses.imbalance + losses.bubble + losses.copies + losses.launch;
}

}  // namespace parbench::report
