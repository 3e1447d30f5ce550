// The section "How to read this" of a dashboard's pages, with the parameters that were used.
#pragma once

#include <string>

#include "reports/dashboard/history.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// Returns how many cases have too few reports to find a change; empty if there are none.
[[nodiscard]] std::string too_few_text(const SeriesLengths& lengths);

void write_reading(HtmlWriter& html);

}  // namespace parbench::report
