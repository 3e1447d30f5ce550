// Findings as lines below an answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reports/views/table_parts.h"

namespace parbench::report {

/// What distinguishes the cases in the table of their scenario. Refers to the cases.
class CaseLabels {
 public:
  explicit CaseLabels(const Cases& cases);

  /// Returns "pipeline, split 5"; the name where the table has no such case.
  [[nodiscard]] std::string label(const std::string& name) const;

 private:
  const Cases& cases_;
  std::vector<ParameterColumn> columns_;
  std::unordered_map<std::string_view, std::size_t> rows_;  // by name
};

/// Returns a line for each finding of the scenario, in their order.
[[nodiscard]] std::vector<std::string> finding_lines(const ScenarioCases& group);

/// Says what the findings do not rest on: profiles of the answer's cases that are missing, and
/// those that are not typical of the samples. Empty where there are none.
[[nodiscard]] std::string limits_line(const ScenarioCases& group);

}  // namespace parbench::report
