// Links between devices, and conditions for joining devices of several processes.
#include "kernels/core/device.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace parbench {

namespace {

[[noreturn]] void refuse_to_join(const Device& device) {
  throw Unsupported("no library joins " + device.info().name + " with devices of other processes");
}

}  // namespace

std::vector<std::byte> Device::make_joining_id() { refuse_to_join(*this); }

std::unique_ptr<Communicator> Device::join(const Joining& /*joining*/) { refuse_to_join(*this); }

bool are_joined_by_library(const std::vector<std::unique_ptr<Device>>& devices) {
  std::set<std::string> units;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i]->info();
    if (info.rank != static_cast<int>(i) || info.joined_by.empty() ||
        info.joined_by != devices.front()->info().joined_by || info.unit.empty() ||
        !units.insert(info.unit).second) {
      return false;
    }
  }
  return !devices.empty();
}

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
