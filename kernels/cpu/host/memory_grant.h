// The memory that Linux's control groups grant this process.
#pragma once

#include <cstddef>
#include <filesystem>

namespace parbench::cpu {

/// In bytes; the largest number there is where nothing limits.
struct MemoryGrant {
  std::size_t limit = 0;
  std::size_t left = 0;  // until the limit; what the group's file cache would give back counts
};

/// The tightest limit and the least left among the process's own group and those above it, of
/// versions 1 and 2. `root` is the folder that holds proc and sys.
[[nodiscard]] MemoryGrant control_group_memory(const std::filesystem::path& root = "/");

}  // namespace parbench::cpu
