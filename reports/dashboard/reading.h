// "How to read this" of a dashboard's pages, with the parameters that were used.
#pragma once

#include <string>

#include "reports/dashboard/history.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// Says for how many cases there are too few reports to find a change. Empty without any.
[[nodiscard]] std::string too_few_text(const SeriesLengths& lengths);

void write_reading(HtmlWriter& html);

}  // namespace parbench::report
