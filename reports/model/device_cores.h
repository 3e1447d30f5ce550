// The cores of a scenario's devices, and whether several devices have the same ones.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

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
