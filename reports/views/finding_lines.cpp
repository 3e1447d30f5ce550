// Labels of cases, and what all findings have in common.
#include "reports/views/finding_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reports/findings/findings.h"
#include "reports/units/units.h"

namespace parbench::report {

std::string case_label(const ScenarioCases& group, const std::string& name) {
  const auto found = std::ranges::find(group.cases, name, &CaseResult::name);
  if (found == group.cases.end()) return name;
  return row_text((*found)->strategy, parameter_columns(group.cases),
                  static_cast<std::size_t>(found - group.cases.begin()));
}

std::vector<std::string> finding_lines(const ScenarioCases& group) {
  std::vector<std::string> lines;
  for (const Finding* finding : findings_of(*group.report, group.scenario)) {
    lines.push_back(to_text(*finding, case_label(group, finding->cases.front())));
  }
  return lines;
}

std::string deviation_line(const ScenarioCases& group) {
  const auto findings = findings_of(*group.report, group.scenario);
  std::vector<const CaseResult*> deviating;
  for (const CaseResult* c : group.cases) {
    const bool named = std::ranges::any_of(findings, [&](const Finding* finding) {
      return std::ranges::find(finding->cases, c->name) != finding->cases.end();
    });
    if (named && c->profile && c->profile->deviation) deviating.push_back(c);
  }
  if (deviating.empty()) return {};
  const auto worst = std::ranges::max_element(
      deviating, {}, [](const CaseResult* c) { return std::abs(*c->profile->deviation); });
  const std::string others =
      deviating.size() > 1
          ? fmt::format(", and {} more differ", format_count(deviating.size() - 1, "case"))
          : std::string();
  return fmt::format("Profiles that are not typical: of {}, {}{}.",
                     case_label(group, (*worst)->name), deviation_text(*(*worst)->profile), others);
}

}  // namespace parbench::report
