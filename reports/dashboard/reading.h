// "How to read this" of a dashboard's pages, with the parameters that were used.
#pragma once

#include "reports/views/html/html_writer.h"

namespace parbench::report {

void write_reading(HtmlWriter& html);

}  // namespace parbench::report
