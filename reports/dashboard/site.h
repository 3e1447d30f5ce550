// A static site from a folder of reports: `parbench dashboard`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"

namespace parbench::report {

/// What a build found and did.
struct SiteSummary {
  std::size_t files = 0;    // *.json: reports, copies of them, and those that were skipped
  std::size_t reports = 0;  // different ones
  std::size_t histories = 0;
  std::size_t changes = 0;
  std::size_t recent_changes = 0;
  SeriesLengths lengths = {};
  std::vector<std::string> skipped;  // files that are no reports, each with the reason
};

/// Builds or renews the site of all reports below `reports`: index.html, a page for each machine
/// and scenario below history/, one for each report below report/, what they share below assets/.
/// Works from disk and from any folder of a web server. Reports are read in parallel.
/// What is left of reports that are gone (pages, styles and scripts below the three folders, by
/// names that only a build gives) is removed; all other files stay.
///
/// A build that is cut short leaves the site readable: each file is replaced as a whole, what pages
/// link to is there before them, and what the new pages no longer need is removed last. Two builds
/// of one site must not run at once.
///
/// Commits lead to their pages in `repository`.
///
/// Throws UsageError for a folder that cannot be read, for a site that cannot be written, and for
/// one that holds something and that no build has made; Error when a file cannot be written.
[[nodiscard]] SiteSummary build_site(const std::filesystem::path& reports,
                                     const std::filesystem::path& site,
                                     const Repository& repository = {});

}  // namespace parbench::report
