#include "kernels/core/backend.h"

#include <fmt/format.h>

namespace parbench {

std::string to_string(const DeviceNumber& number) {
  return number.part ? fmt::format("{}/{}", number.device, *number.part)
                     : std::to_string(number.device);
}

std::vector<DeviceNumber> Backend::choose(int count) const {
  std::vector<DeviceNumber> numbers;
  for (int device = 0; device < count; ++device) numbers.push_back({.device = device});
  return numbers;
}

}  // namespace parbench
