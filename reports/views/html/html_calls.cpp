// Writes the tables of `show --calls`, folded.
#include "reports/views/html/html_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "kernels/base/units/units.h"
#include "reports/views/call_table.h"
#include "reports/views/finding_lines.h"
#include "reports/views/html/html_table.h"

namespace parbench::report {
namespace {

constexpr std::size_t max_tables = 12;

std::set<std::string> names_in_answer(const ScenarioCases& group) {
  std::set<std::string> names;
  const Answer* answer = find_answer(*group.report, group.scenario);
  if (answer == nullptr) return names;
  for (const Recommendation& one : answer->recommendations) {
    for (const auto& candidate : one.candidates) names.insert(candidate.name);
    if (one.gaining) names.insert(one.gaining->name);
  }
  return names;
}

Cases profiled_cases(const ScenarioCases& group) {
  Cases cases;
  for (const CaseResult* c : group.cases) {
    if (c->profile && !c->profile->metrics.calls.empty()) cases.push_back(c);
  }
  const std::set<std::string> first = names_in_answer(group);
  std::stable_partition(cases.begin(), cases.end(),
                        [&](const CaseResult* c) { return first.contains(c->name); });
  return cases;
}

}  // namespace

void write_calls(HtmlWriter& html, const ScenarioCases& group) {
  const Cases cases = profiled_cases(group);
  if (cases.empty()) return;
  const CaseLabels labels(group.cases);
  html.raw("<details class=\"calls\"><summary>Calls: where the time went</summary>\n");
  for (std::size_t i = 0; i < std::min(cases.size(), max_tables); ++i) {
    const std::string label = labels.label(cases[i]->name);
    html.raw("<details>").element("summary", label).raw("\n");
    write_table(html, table_of_calls(*group.report, *cases[i]),
                {.css_class = "calls", .label = "Calls of " + label});
    html.raw("</details>\n");
  }
  if (cases.size() > max_tables) {
    html.element("p",
                 fmt::format("{} more: parbench show --calls REPORT, or parbench export --format "
                             "csv-calls REPORT",
                             format_count(cases.size() - max_tables, "case")),
                 {{"class", "note"}});
  }
  html.raw("</details>\n");
}

}  // namespace parbench::report
