// Memory that Linux control groups grant to this process.
#pragma once

#include <cstddef>
#include <filesystem>

namespace parbench::cpu {

/// Limit and remainder in bytes; both are the largest std::size_t if there is no limit.
struct MemoryGrant {
  std::size_t limit = 0;
  std::size_t left = 0;  // bytes until the limit; the group's reclaimable file cache counts as free
};

/// Returns the tightest limit and the smallest remainder of the process's own group and its parent
/// groups, in versions 1 and 2. `root`: the folder that holds proc and sys.
[[nodiscard]] MemoryGrant control_group_memory(const std::filesystem::path& root = "/");

}  // namespace parbench::cpu
