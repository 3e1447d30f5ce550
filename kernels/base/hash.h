// A hash of text that is equal in all builds on all platforms.
#pragma once

#include <cstdint>
#include <string_view>

namespace parbench {

/// Returns the hash FNV-1a (Fowler, Noll, Vo) with 64 bits and the constants of draft-eastlake-fnv.
[[nodiscard]] inline std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace parbench
