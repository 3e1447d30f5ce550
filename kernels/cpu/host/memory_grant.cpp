// Reads the files of the control groups' controller "memory".
#include "kernels/cpu/host/memory_grant.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "kernels/base/control_group.h"

namespace parbench::cpu {
namespace {

/// File and field names of a version of control groups.
struct Names {
  std::string_view limit;
  std::string_view usage;
  std::string_view file_cache;  // name in memory.stat of the pages that the kernel reclaims first
};
constexpr Names version_1{.limit = "memory.limit_in_bytes",
                          .usage = "memory.usage_in_bytes",
                          .file_cache = "total_inactive_file"};
constexpr Names version_2{
    .limit = "memory.max", .usage = "memory.current", .file_cache = "inactive_file"};

}  // namespace

MemoryGrant control_group_memory(const std::filesystem::path& root) {
  MemoryGrant grant{.limit = std::numeric_limits<std::size_t>::max(),
                    .left = std::numeric_limits<std::size_t>::max()};
  for (const auto& [folder, version] : control_groups("memory", root)) {
    const Names& names = version == 1 ? version_1 : version_2;
    const auto limit = number_in(folder / names.limit);
    if (!limit) continue;
    const std::int64_t cache = statistic_in(folder / "memory.stat", names.file_cache);
    const std::int64_t used = number_in(folder / names.usage).value_or(0) - cache;
    const std::int64_t left = *limit - std::clamp<std::int64_t>(used, 0, *limit);
    grant.limit = std::min(grant.limit, static_cast<std::size_t>(*limit));
    grant.left = std::min(grant.left, static_cast<std::size_t>(left));
  }
  return grant;
}

}  // namespace parbench::cpu
