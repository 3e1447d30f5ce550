// Counts cores by host and number.
#include "reports/model/device_cores.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "scenarios/plan/graph.h"

namespace parbench::report {
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
