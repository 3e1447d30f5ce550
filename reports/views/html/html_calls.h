// Where the time of cases went, call by call, on a page.
#pragma once

#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Writes a folded table of calls for each profiled case of a scenario, those first that its answer
/// names. A page has room for a dozen; what is missing is counted with the command that shows it.
void write_calls(HtmlWriter& html, const ScenarioCases& group);

}  // namespace parbench::report
