// The first page of a dashboard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/dashboard/history.h"
#include "reports/dashboard/pages/page_parts.h"
#include "reports/dashboard/repository.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// Max age of a recent change in days: from the report after the change to the newest of all
/// reports.
inline constexpr std::int64_t recent_days = 90;

/// Returns the recent changes of a history. `newest`: start of the newest of all reports.
[[nodiscard]] std::vector<PlacedChange> recent_changes(const History& history, std::int64_t newest);

/// Returns the start of the newest of all reports in seconds since 1970; 0 without reports.
[[nodiscard]] std::int64_t newest_start(const std::vector<History>& histories);

/// Returns the page: recent changes, the largest first, and all histories. `reports` is the number
/// of reports. Commits link to the repository.
[[nodiscard]] std::string index_html(const std::vector<History>& histories, std::size_t reports,
                                     const WebAssets& assets, const Repository& repository = {});

}  // namespace parbench::report
