// Tables of the calls of cases on a page.
#pragma once

#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Writes a folded table of calls for each profiled case of a scenario, cases of the answer first.
/// Writes at most 12 tables; a note counts the others and names the command that shows them.
void write_calls(HtmlWriter& html, const ScenarioCases& group);

}  // namespace parbench::report
