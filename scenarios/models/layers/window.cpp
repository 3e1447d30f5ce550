// Positions of a window.
#include "scenarios/models/layers/window.h"

#include <fmt/format.h>

#include <stdexcept>

namespace parbench {

std::int64_t Window::positions(std::int64_t image) const {
  const std::int64_t room = image + 2 * padding + trailing - extent();
  if (room < 0) {
    throw std::invalid_argument(
        fmt::format("an extent of {} is too small for a window of {}", image, extent()));
  }
  return room / stride + 1;
}

Shape Window::output(std::int64_t channels, const Shape& image) const {
  if (image.size() != 3) {
    throw std::invalid_argument(
        fmt::format("an image has 3 dimensions, not the {} of {}", image.size(), to_string(image)));
  }
  return {channels, positions(image[1]), positions(image[2])};
}

}  // namespace parbench
