// A static site from a folder of reports: `parbench dashboard`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"

namespace parbench::report {

struct SiteSummary {
  std::size_t files = 0;    // all *.json: reports, copies of reports, and skipped files
  std::size_t reports = 0;  // distinct reports
  std::size_t histories = 0;
  std::size_t changes = 0;
  std::size_t recent_changes = 0;
  SeriesLengths lengths = {};
  std::vector<std::string> skipped;  // files that are not reports, each with the reason
};

/// Builds or updates the site of all reports below `reports`: index.html, a page for each machine
/// and scenario below history/, a page for each report below report/, and shared files below
/// assets/. The site works from disk and from any folder of a web server. Reports are read in
/// parallel. Obsolete pages, styles and scripts below the three folders are removed if their names
/// have the form that builds give; all other files stay.
///
/// An interrupted build leaves the site readable: files are replaced atomically, assets and reports
/// are written before the histories, these before index.html, and obsolete files are removed last.
/// Two builds of one site must not run at once.
///
/// Commits link to their pages in `repository`.
///
/// Throws UsageError if a folder cannot be read, the site cannot be written, or the target folder
/// is not empty and not a site. Throws Error if a file cannot be written.
[[nodiscard]] SiteSummary build_site(const std::filesystem::path& reports,
                                     const std::filesystem::path& site,
                                     const Repository& repository = {});

}  // namespace parbench::report
