// Applies the rules to scenarios; a rule that applies to several cases gives one finding.
#include "reports/findings/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "kernels/base/units/units.h"
#include "reports/findings/losses.h"
#include "reports/findings/rules.h"
#include "reports/findings/thread_rules.h"
#include "reports/model/fingerprint.h"
#include "reports/statistics/answer_cases.h"

namespace parbench::report {
namespace {

std::vector<std::string> scenarios_of(const Report& report) {
  std::vector<std::string> names;
  for (const CaseResult& one : report.cases) {
    if (std::ranges::find(names, one.scenario) == names.end()) names.push_back(one.scenario);
  }
  return names;
}

/// Returns whether all devices of a scenario are of one kind, so that equal shares of the work take
/// equal times.
bool devices_alike(const Report& report, const std::string& scenario) {
  const auto devices = fingerprint(report, scenario).devices;
  return std::ranges::adjacent_find(devices, std::ranges::not_equal_to()) == devices.end();
}

void find_losses(Report& report, const std::string& scenario) {
  const ProfiledCases cases(report, scenario);
  // Without equal devices with cores of their own, the ideal time is unknown.
  const bool alike = devices_alike(report, scenario) && !cases.cores().are_shared();
  auto one = cases.all().begin();
  for (CaseResult& own : report.cases) {
    if (one == cases.all().end() || &one->of() != &own) continue;
    // Uses only shares of the baseline's time, so the baseline's profile need not represent its
    // samples.
    const Profiled* baseline = own.speedup ? cases.find(own.speedup->baseline) : nullptr;
    own.profile->losses = alike && baseline != nullptr ? losses_of(*one, *baseline) : std::nullopt;
    ++one;
  }
}

std::optional<Remark> remark_of(const Rule& rule, const CaseResult& one,
                                const ProfiledCases& profiled) {
  const Profiled* known = profiled.find(one.name);
  if (rule.has_cause_in_sharing && known != nullptr && shares_cores(*known, profiled)) {
    return std::nullopt;
  }
  if (const auto* find = std::get_if<CaseRule>(&rule.find)) return (*find)(one, profiled.roles());
  if (known == nullptr) return std::nullopt;
  if (known->profile().deviation && !rule.holds_for_any_execution) return std::nullopt;
  std::optional<Remark> remark = std::get<ProfileRule>(rule.find)(*known, profiled);
  const bool is_load =
      remark && rule.has_cause_in_load && can_be_load(one, profiled, remark->share);
  return is_load ? std::nullopt : remark;
}

/// Names of the cases in the scenario's answer.
struct AnswerCases {
  std::set<std::string> recommended;
  // `cases_of_answer`: has cases that divide the work in place of recommended cases that do not
  std::set<std::string> divided;

  AnswerCases(const Report& report, const std::string& scenario) {
    const auto answer = std::ranges::find(report.answers, scenario, &Answer::scenario);
    if (answer == report.answers.end()) return;
    recommended = recommended_cases(*answer);
    divided = cases_of_answer(*answer, report.cases);
  }

  /// Returns the priority of a case in a rule's finding; the highest comes first.
  [[nodiscard]] int priority(const Rule& rule, const std::string& name) const {
    if (rule.begins_with_recommended && recommended.contains(name)) return 2;
    return divided.contains(name) ? 1 : 0;
  }
};

/// Priority of a remark: that of its case in the answer, then its share, then its weight.
using Priority = std::tuple<int, double, double>;

struct PrioritisedFinding {
  Priority priority;
  Finding finding;
};

/// Combines a rule's remarks on the cases of a scenario: the text is that of the highest priority,
/// and its case is listed first.
std::optional<PrioritisedFinding> finding_of(const Rule& rule,
                                             const std::vector<const CaseResult*>& cases,
                                             const ProfiledCases& profiled,
                                             const AnswerCases& first) {
  PrioritisedFinding found;
  Finding& finding = found.finding;
  for (const CaseResult* one : cases) {
    std::optional<Remark> remark = remark_of(rule, *one, profiled);
    if (!remark) continue;
    const Priority priority{first.priority(rule, one->name), remark->share, remark->weight};
    if (finding.cases.empty() || priority > found.priority) {
      found.priority = priority;
      finding.share = remark->share;
      finding.text = std::move(remark->text);
      finding.advice = std::move(remark->advice);
      finding.evidence = std::move(remark->evidence);
      finding.cases.insert(finding.cases.begin(), one->name);
    } else {
      finding.cases.push_back(one->name);
    }
  }
  if (finding.cases.empty()) return std::nullopt;
  finding.scenario = cases.front()->scenario;
  finding.rule = rule.name;
  // Between findings, it only counts whether the first case is one of the answer.
  std::get<0>(found.priority) = std::min(1, std::get<0>(found.priority));
  return found;
}

std::vector<const CaseResult*> cases_with_numbers(const Report& report,
                                                  const std::string& scenario) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : report.cases) {
    if (one.scenario == scenario && has_number(one)) cases.push_back(&one);
  }
  return cases;
}

}  // namespace

void find_reasons(Report& report) {
  report.findings.clear();
  for (const std::string& scenario : scenarios_of(report)) {
    find_losses(report, scenario);
    const std::vector<const CaseResult*> cases = cases_with_numbers(report, scenario);
    const ProfiledCases profiled(report, scenario);
    const AnswerCases first(report, scenario);
    std::vector<PrioritisedFinding> found;
    for (const Rule& rule : all_rules()) {
      auto finding = finding_of(rule, cases, profiled, first);
      if (finding) found.push_back(*std::move(finding));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &PrioritisedFinding::priority);
    std::ranges::transform(found, std::back_inserter(report.findings),
                           &PrioritisedFinding::finding);
  }
}

std::vector<const Finding*> findings_of(const Report& report, const std::string& scenario) {
  std::vector<const Finding*> found;
  for (const Finding& finding : report.findings) {
    // A report that parbench did not write may have findings without cases.
    if (finding.scenario == scenario && !finding.cases.empty()) found.push_back(&finding);
  }
  return found;
}

std::string count_of_several(std::size_t cases) {
  return cases > 1 ? fmt::format(" ({})", format_count(cases, "case")) : std::string();
}

std::string to_text(const Finding& finding, const std::string& label) {
  std::string text =
      fmt::format("{}: {}{}", label, finding.text, count_of_several(finding.cases.size()));
  if (!finding.advice.empty()) text += "; try: " + finding.advice;
  return text + ".";
}

}  // namespace parbench::report
