// The tables of a scenario on a page: all its cases, and published figures beside measured ones.
#pragma once

#include <string>

#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// The values that all cases share, the table with a row for every case, and what its marks mean.
/// `id` is the scenario's on the page.
void write_case_table(HtmlWriter& html, const ScenarioCases& group, const std::string& id);

/// Figures that the report's run was to be read beside, with those of the same cases; nothing where
/// the report has none of the scenario.
void write_published(HtmlWriter& html, const Report& report, const ScenarioCases& group);

}  // namespace parbench::report
