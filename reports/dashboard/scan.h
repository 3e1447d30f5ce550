// Finds the report files of a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace parbench::report {

/// Returns the sorted paths of all files *.json below a folder, relative to it and with slashes.
/// Skips hidden files and folders, `except`, and links to folders. Throws UsageError if `folder` is
/// not a readable folder.
[[nodiscard]] std::vector<std::string> find_reports(const std::filesystem::path& folder,
                                                    const std::filesystem::path& except);

}  // namespace parbench::report
