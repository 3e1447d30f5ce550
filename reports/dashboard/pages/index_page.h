// The first page of a dashboard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// A change is recent when the report after it is at most so much older than the newest of all.
inline constexpr std::int64_t recent_days = 90;

/// Whether a change is recent where the newest report of all started at `newest`.
[[nodiscard]] bool is_recent(const History& history, const Series& series, const Change& change,
                             std::int64_t newest);

/// When the newest report of all started; 0 without any.
[[nodiscard]] std::int64_t newest_start(const std::vector<History>& histories);

/// Recent changes, the largest first, and all histories. `reports` is the number of reports.
/// Commits lead to the repository.
[[nodiscard]] std::string index_html(const std::vector<History>& histories, std::size_t reports,
                                     const WebAssets& assets, const Repository& repository = {});

}  // namespace parbench::report
