// Rounding of sizes up to an alignment.
#pragma once

#include <cstddef>

namespace parbench {

/// Returns the smallest multiple of `alignment` that is at least `size`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace parbench
