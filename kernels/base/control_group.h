// Linux control groups of this process, through which containers and services limit it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace parbench {

struct ControlGroup {
  std::filesystem::path folder;
  int version = 2;  // version of control groups: 1 or 2
};

/// Returns the groups in which a controller ("cpu", "memory") may limit this process: the groups of
/// version 2, then those of version 1; for each version the process's own group, then its parents
/// up to the mounted group. Only the mounted group if the mount does not show the process's own.
/// Folders may be missing; their groups have no limits. Empty on systems without control groups.
/// `root`: the folder that holds proc and sys. https://man7.org/linux/man-pages/man7/cgroups.7.html
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string_view controller,
                                                       const std::filesystem::path& root = "/");

/// Returns the number at the start of a file; nothing if the file is missing or starts with
/// something else ("max").
[[nodiscard]] std::optional<std::int64_t> number_in(const std::filesystem::path& file);

/// Returns the number that follows `name` in a file with a name and a number on each line
/// (cpu.stat, memory.stat); 0 if no line has that name.
[[nodiscard]] std::int64_t statistic_in(const std::filesystem::path& file, std::string_view name);

}  // namespace parbench
