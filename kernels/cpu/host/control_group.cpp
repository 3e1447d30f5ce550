// Reads /proc/self/cgroup and the memory controller's files.
#include "kernels/cpu/host/control_group.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace parbench::cpu {
namespace {

namespace fs = std::filesystem;

constexpr MemoryGrant unlimited{.limit = std::numeric_limits<std::size_t>::max(),
                                .left = std::numeric_limits<std::size_t>::max()};

/// How a version of control groups names what is read here.
struct Names {
  std::string_view limit;
  std::string_view usage;
  std::string_view file_cache;  // in memory.stat: pages that the kernel takes back first
};
constexpr Names version_1{.limit = "memory.limit_in_bytes",
                          .usage = "memory.usage_in_bytes",
                          .file_cache = "total_inactive_file"};
constexpr Names version_2{
    .limit = "memory.max", .usage = "memory.current", .file_cache = "inactive_file"};

/// Nothing for a file that is not there or holds no number ("max").
std::optional<std::size_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::size_t statistic(const fs::path& group, std::string_view name) {
  std::ifstream file(group / "memory.stat");
  std::string key;
  std::size_t value = 0;
  while (file >> key >> value) {
    if (key == name) return value;
  }
  return 0;
}

MemoryGrant grant_of(const fs::path& group, const Names& names) {
  const std::optional<std::size_t> limit = number_in(group / names.limit);
  if (!limit) return unlimited;
  std::size_t used = number_in(group / names.usage).value_or(0);
  used -= std::min(used, statistic(group, names.file_cache));
  return {.limit = *limit, .left = *limit - std::min(*limit, used)};
}

MemoryGrant tightest(const MemoryGrant& a, const MemoryGrant& b) {
  return {.limit = std::min(a.limit, b.limit), .left = std::min(a.left, b.left)};
}

/// Returns the grant of the group and all groups above it. A container may see its own group as the
/// mounted root while its path is the host's: folders that are not there grant without limit.
MemoryGrant grant_along(const fs::path& mount, fs::path group, const Names& names) {
  MemoryGrant grant = grant_of(mount, names);
  for (; !group.empty(); group = group.parent_path()) {
    grant = tightest(grant, grant_of(mount / group, names));
  }
  return grant;
}

/// Paths of the process's groups relative to the mounted hierarchies.
struct Groups {
  fs::path version_1;
  fs::path version_2;
};

/// Lines are "number:controllers:/path"; version 2 is number 0 and names no controllers.
Groups groups_of_process(const fs::path& root) {
  Groups groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = fs::path(line.substr(second + 1)).lexically_normal().relative_path();
    if (line.starts_with("0::")) groups.version_2 = path;
    if (controllers.find(",memory,") != std::string::npos) groups.version_1 = path;
  }
  return groups;
}

}  // namespace

MemoryGrant control_group_memory(const fs::path& root) {
  const Groups groups = groups_of_process(root);
  const fs::path mount = root / "sys/fs/cgroup";
  return tightest(grant_along(mount, groups.version_2, version_2),
                  grant_along(mount / "memory", groups.version_1, version_1));
}

}  // namespace parbench::cpu
