// The tables of a scenario on a page: all its cases, and published figures.
#pragma once

#include <string>

#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Writes the common values, the table of all cases and the footnotes. `id`: id of the scenario on
/// the page.
void write_case_table(HtmlWriter& html, const ScenarioCases& group, const std::string& id);

/// Writes published figures beside the measured ones of the same cases; nothing if the report has
/// none for the scenario.
void write_published(HtmlWriter& html, const Report& report, const ScenarioCases& group);

}  // namespace parbench::report
