// Counts cores by host and number.
#include "reports/model/device_cores.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace parbench::report {
namespace {

/// "node1" of "node1/0/cpu:0", a device of a rank; empty of "cpu:0".
std::string_view host_in(std::string_view device) {
  const std::string_view before_kind = device.substr(0, device.find(':'));
  const std::size_t end = before_kind.find('/');
  return end == std::string_view::npos ? std::string_view() : before_kind.substr(0, end);
}

}  // namespace

DeviceCores cores_of(const std::vector<Device>& devices) {
  DeviceCores cores;
  std::set<std::pair<std::string_view, int>> different;
  for (const Device& device : devices) {
    if (!device.combines.empty()) continue;
    for (const int core : device.cores) different.emplace(host_in(device.name), core);
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
