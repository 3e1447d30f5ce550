// "How to read this" of a dashboard's pages, with the parameters that were used.
#pragma once

#include <cstddef>
#include <string>

#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// Says that no series is long enough for a change to be found, and from which length on one is;
/// empty where the longest one is.
[[nodiscard]] std::string too_few_text(std::size_t longest_series);

void write_reading(HtmlWriter& html);

}  // namespace parbench::report
