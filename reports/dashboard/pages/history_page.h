// The page of one scenario on one class of machines.
#pragma once

#include <string>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// Returns the page: the history of each case, its changes with the commits before and after, and
/// all reports, each linked to its page. The page works without its script, except that values of
/// older reports are only on the reports' own pages. The script adds pictures, sorting, and filters
/// that are kept in the address. Commits link to the repository.
[[nodiscard]] std::string history_html(const History& history, const WebAssets& assets,
                                       const Repository& repository = {});

}  // namespace parbench::report
