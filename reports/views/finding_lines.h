// Formats findings as lines below an answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reports/views/table_parts.h"

namespace parbench::report {

/// Labels of the cases of a scenario, as in its table. The cases must outlive the labels.
class CaseLabels {
 public:
  explicit CaseLabels(const Cases& cases);

  /// Returns "pipeline, split 5"; the name if the table has no such case.
  [[nodiscard]] std::string label(const std::string& name) const;

 private:
  const Cases& cases_;
  std::vector<ParameterColumn> columns_;
  std::unordered_map<std::string_view, std::size_t> rows_;  // rows of the table by name of the case
};

/// Returns a line for each finding of the scenario, in order.
[[nodiscard]] std::vector<std::string> finding_lines(const ScenarioCases& group);

/// Returns limitations of the findings: cases of the answer that lack a profile for a recorded
/// reason, or whose profile does not represent the samples. Empty if there are none.
[[nodiscard]] std::string limits_line(const ScenarioCases& group);

}  // namespace parbench::report
