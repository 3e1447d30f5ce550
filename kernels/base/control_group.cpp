// Reads /proc/self/cgroup and /proc/self/mountinfo.
#include "kernels/base/control_group.h"

#include <fstream>
#include <sstream>
#include <string>

namespace parbench {
namespace {

namespace fs = std::filesystem;

/// Returns whether a comma-separated list contains `name`. Searches for ",name,", so that parts of
/// names do not match.
bool lists(std::string_view names, std::string_view name) {
  const std::string list = "," + std::string(names) + ",";
  return list.find("," + std::string(name) + ",") != std::string::npos;
}

/// A hierarchy of control groups, version 1 or 2, in which a controller may limit this process.
struct Hierarchy {
  std::string_view controller;
  int version = 2;
};

struct Mount {
  fs::path shown;  // path of the mounted group, from the top of the hierarchy
  fs::path point;  // folder at which it is mounted
};

/// Returns the path of this process's group in a hierarchy; nothing if /proc/self/cgroup does not
/// list the hierarchy. Its lines are "number:controllers:/path"; version 2 has number 0 and no
/// controllers.
std::optional<fs::path> group_of_process(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const bool found = hierarchy.version == 2 ? line.starts_with("0::")
                                              : lists(line.substr(first + 1, second - first - 1),
                                                      hierarchy.controller);
    if (found) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Returns the mount of a hierarchy; nothing if /proc/self/mountinfo does not list one. Its lines
/// are "31 23 0:28 /shown /point options … - type source options"; in version 1 the last options
/// name the controllers. https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
std::optional<Mount> mount_of(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find(" - ");
    if (end == std::string::npos) continue;
    std::string ignored;
    std::string shown;
    std::string point;
    std::string type;
    std::string options;
    std::istringstream(line) >> ignored >> ignored >> ignored >> shown >> point;
    std::istringstream(line.substr(end + 3)) >> type >> ignored >> options;
    const bool found = hierarchy.version == 2
                           ? type == "cgroup2"
                           : type == "cgroup" && lists(options, hierarchy.controller);
    if (found) return Mount{shown, root / fs::path(point).relative_path()};
  }
  return std::nullopt;
}

/// Returns the path of a group relative to the top of a mount. Empty if the group is the top, or if
/// the mount does not show the group, as in some containers; callers then use the top.
fs::path path_below(const fs::path& group, const fs::path& top) {
  const fs::path path = group.lexically_relative(top);
  return path == "." || path.begin() == path.end() || *path.begin() == ".." ? fs::path() : path;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  for (const int version : {2, 1}) {
    const Hierarchy hierarchy{controller, version};
    const auto group = group_of_process(hierarchy, root);
    const auto mount = mount_of(hierarchy, root);
    if (!group || !mount) continue;
    for (fs::path path = path_below(*group, mount->shown); !path.empty();
         path = path.parent_path()) {
      groups.push_back({mount->point / path, version});
    }
    groups.push_back({mount->point, version});
  }
  return groups;
}

std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::int64_t statistic_in(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace parbench
