// What can be said of several devices.
#include "kernels/core/device.h"

#include <cstddef>
#include <utility>

namespace parbench {

std::vector<DeviceLink> links_of(const std::vector<std::unique_ptr<Device>>& devices) {
  std::vector<DeviceLink> links;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      const Device& from = *devices[i];
      const Device& to = *devices[j];
      std::string kind = from.link_to(to);
      if (kind.empty()) kind = to.link_to(from);
      if (!kind.empty()) links.push_back({from.info().name, to.info().name, std::move(kind)});
    }
  }
  return links;
}

}  // namespace parbench
