// Which files of a folder are to be read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace parbench::report {

/// Returns the sorted paths of all files *.json below a folder, relative to it and with slashes.
/// Does not search hidden folders, `except`, and links to folders. Throws UsageError when `folder`
/// is no folder that can be read.
[[nodiscard]] std::vector<std::string> find_reports(const std::filesystem::path& folder,
                                                    const std::filesystem::path& except);

}  // namespace parbench::report
