// Findings as lines below an answer.
#pragma once

#include <string>
#include <vector>

#include "reports/views/table_parts.h"

namespace parbench::report {

/// Returns what distinguishes a case in the table of its scenario, "pipeline, split 5"; its name
/// where the table has no such case.
[[nodiscard]] std::string case_label(const ScenarioCases& group, const std::string& name);

/// Returns a line for each finding of the scenario, in their order.
[[nodiscard]] std::vector<std::string> finding_lines(const ScenarioCases& group);

/// Says which profiles that findings rest on are not typical of the samples; empty where all are.
[[nodiscard]] std::string deviation_line(const ScenarioCases& group);

}  // namespace parbench::report
