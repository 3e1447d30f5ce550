// What a site remembers from build to build, so that a report is read once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "reports/dashboard/summary.h"

namespace parbench::report {

/// A file as it was when it was last looked at.
struct KnownFile {
  std::uintmax_t bytes = 0;
  std::int64_t modified = 0;  // in the file system's own ticks
  std::string content;        // its id
};

/// The summary of what a file holds, or why it is no report.
using Content = std::variant<ReportSummary, std::string>;

struct Cache {
  Identities identities;
  std::map<std::string, KnownFile> files;   // by path, relative to the folder of reports
  std::map<std::string, Content> contents;  // by id
};

/// The cache in a file; an empty one where there is none, where it is damaged (a checksum tells),
/// or where `writer` says that what it led to would look otherwise today.
[[nodiscard]] Cache read_cache(const std::filesystem::path& path, const std::string& writer);

/// Throws Error.
void write_cache(const std::filesystem::path& path, const std::string& writer, const Cache& cache);

}  // namespace parbench::report
