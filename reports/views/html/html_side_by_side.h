// Compares the cases that several reports of a page have.
#pragma once

#include <vector>

#include "reports/views/html/html.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// Writes a section with a picture and a table of the cases that were measured in more than one
/// report, sorted by difference in descending order; nothing without such cases.
void write_side_by_side(HtmlWriter& html, const WebAssets& assets,
                        const std::vector<NamedReport>& reports);

}  // namespace parbench::report
