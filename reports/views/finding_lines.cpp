// Labels cases, and describes limitations of all findings.
#include "reports/views/finding_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "reports/findings/findings.h"
#include "reports/model/notes.h"
#include "reports/statistics/answer_cases.h"
#include "reports/text/text.h"

namespace parbench::report {

CaseLabels::CaseLabels(const Cases& cases) : cases_(cases), columns_(parameter_columns(cases)) {
  for (std::size_t row = 0; row < cases.size(); ++row) rows_.emplace(cases[row]->name, row);
}

std::string CaseLabels::label(const std::string& name) const {
  const auto found = rows_.find(name);
  if (found == rows_.end()) return name;
  return row_text(cases_[found->second]->strategy, columns_, found->second);
}

std::vector<std::string> finding_lines(const ScenarioCases& group) {
  const CaseLabels labels(group.cases);
  std::vector<std::string> lines;
  for (const Finding* finding : findings_of(*group.report, group.scenario)) {
    lines.push_back(to_text(*finding, labels.label(finding->cases.front())));
  }
  return lines;
}

namespace {

/// Returns the cases that the answer recommends and those that explain its gains.
std::set<std::string> named_cases(const ScenarioCases& group) {
  const Answer* answer = find_answer(*group.report, group.scenario);
  if (answer == nullptr) return {};
  std::set<std::string> named = cases_of_answer(*answer, group.report->cases);
  named.merge(recommended_cases(*answer));
  return named;
}

/// Returns "No timeline of split 5 (interrupted): its calls have no findings."; empty if no case of
/// the answer lacks a timeline for a recorded reason.
std::string missing_timelines(const ScenarioCases& group) {
  const std::set<std::string> named = named_cases(group);
  std::vector<std::string> labels;
  std::string reason;
  for (const CaseResult* c : group.cases) {
    const std::string* note = find_note(*c, no_timeline);
    if (!named.contains(c->name) || c->profile || note == nullptr) continue;
    labels.push_back(CaseLabels(group.cases).label(c->name));
    reason = *note;
  }
  if (labels.empty()) return {};
  if (labels.size() == 1) {
    return fmt::format("No timeline of {} ({}): its calls have no findings.", labels.front(),
                       reason);
  }
  return fmt::format(
      "No timeline of {} cases of the answer, such as {} ({}): their calls have no "
      "findings.",
      labels.size(), labels.front(), reason);
}

/// Returns whether a finding reports that the losses of a case cannot be divided.
bool lacks_breakdown(const ScenarioCases& group, const std::string& name) {
  return std::ranges::any_of(
      findings_of(*group.report, group.scenario), [&](const Finding* finding) {
        return finding->rule == no_breakdown &&
               std::ranges::find(finding->cases, name) != finding->cases.end();
      });
}

/// Names the case of the answer whose profile deviates most, apart from cases whose losses cannot
/// be divided; empty if no other profile deviates.
std::string deviating_profiles(const ScenarioCases& group) {
  const std::set<std::string> named = named_cases(group);
  std::vector<const CaseResult*> deviating;
  for (const CaseResult* c : group.cases) {
    if (!c->profile || !c->profile->deviation || !named.contains(c->name)) continue;
    if (!lacks_breakdown(group, c->name)) deviating.push_back(c);
  }
  if (deviating.empty()) return {};
  const auto worst = std::ranges::max_element(
      deviating, {}, [](const CaseResult* c) { return std::abs(*c->profile->deviation); });
  return fmt::format(
      "The profiled run of {} was not representative: it {}{}. Findings about its calls are left "
      "out.",
      CaseLabels(group.cases).label((*worst)->name), deviation_text(*(*worst)->profile),
      count_of_several(deviating.size()));
}

}  // namespace

std::string limits_line(const ScenarioCases& group) {
  return joined(std::array{missing_timelines(group), deviating_profiles(group)}, " ");
}

}  // namespace parbench::report
