// The page of one scenario on one class of machines.
#pragma once

#include <string>

#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"
#include "reports/views/html/html.h"

namespace parbench::report {

/// Every case's history, its changes with the commits before and after, and all reports, each
/// linked to its page. All of it is there without the script, but for the figures of older reports,
/// which their own pages have; the script adds pictures, sorting and filters that the address
/// holds. Commits lead to the repository.
[[nodiscard]] std::string history_html(const History& history, const WebAssets& assets,
                                       const Repository& repository = {});

}  // namespace parbench::report
