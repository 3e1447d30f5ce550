// Which files of a folder are to be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace parbench::report {

struct FoundFile {
  std::string path;  // relative to the folder, with slashes
  std::uintmax_t bytes = 0;
  std::int64_t modified = 0;  // in the file system's own ticks
};

/// All files *.json below a folder, in the order of their paths; not in hidden folders, in `except`
/// or behind links to folders. Throws UsageError when `folder` is no folder that can be read.
[[nodiscard]] std::vector<FoundFile> find_reports(const std::filesystem::path& folder,
                                                  const std::filesystem::path& except);

}  // namespace parbench::report
