// Rules over scenarios; what a rule says of several cases is one finding.
#include "reports/findings/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "reports/findings/losses.h"
#include "reports/findings/rules.h"
#include "reports/model/fingerprint.h"
#include "reports/units/units.h"

namespace parbench::report {
namespace {

std::vector<std::string> scenarios_of(const Report& report) {
  std::vector<std::string> names;
  for (const CaseResult& one : report.cases) {
    if (std::ranges::find(names, one.scenario) == names.end()) names.push_back(one.scenario);
  }
  return names;
}

/// Whether a share of the work is the same time on each.
bool devices_alike(const Report& report, const std::string& scenario) {
  const auto devices = fingerprint(report, scenario).devices;
  return std::ranges::adjacent_find(devices, std::ranges::not_equal_to()) == devices.end();
}

void find_losses(Report& report, const std::string& scenario) {
  const bool alike = devices_alike(report, scenario);  // or what would be ideal is not known
  const ProfiledCases cases(report, scenario);
  auto one = cases.all().begin();
  for (CaseResult& own : report.cases) {
    if (one == cases.all().end() || &one->of() != &own) continue;
    const Profiled* baseline = cases.baseline_of(*one);
    own.profile->losses = alike && baseline != nullptr ? losses_of(*one, *baseline) : std::nullopt;
    ++one;
  }
}

std::string without_scenario(const std::string& case_name) {
  return case_name.substr(case_name.find('/') + 1);
}

/// Notes a profiled execution that is far from the samples, which it may not represent.
void add_reservations(const Profiled& one, Remark& remark) {
  const std::string own = deviation_text(one.profile());
  if (!own.empty()) remark.text += fmt::format(" ({})", own);
  if (remark.beside == nullptr) return;
  const std::string other = deviation_text(remark.beside->profile());
  if (other.empty()) return;
  remark.text += fmt::format(" (of {}: {})", without_scenario(remark.beside->name()), other);
}

std::optional<Remark> remark_of(const Rule& rule, const CaseResult& one,
                                const ProfiledCases& profiled) {
  if (const auto* find = std::get_if<CaseRule>(&rule.find)) return (*find)(one, profiled.roles());
  const Profiled* known = profiled.find(one.name);
  if (known == nullptr) return std::nullopt;
  std::optional<Remark> remark = std::get<ProfileRule>(rule.find)(*known, profiled);
  if (!remark) return std::nullopt;
  add_reservations(*known, *remark);
  return remark;
}

/// What a rule says of the cases of a scenario: the strongest of its remarks, and whom it concerns,
/// that one first.
std::optional<Finding> finding_of(const Rule& rule, const std::vector<const CaseResult*>& cases,
                                  const ProfiledCases& profiled) {
  Finding finding;
  double max = 0;
  for (const CaseResult* one : cases) {
    std::optional<Remark> remark = remark_of(rule, *one, profiled);
    if (!remark) continue;
    if (finding.cases.empty() || remark->weight > max) {
      max = remark->weight;
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
  return finding;
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
    for (const Rule& rule : all_rules()) {
      auto finding = finding_of(rule, cases, profiled);
      if (finding) report.findings.push_back(*std::move(finding));
    }
  }
}

std::vector<const Finding*> findings_of(const Report& report, const std::string& scenario) {
  std::vector<const Finding*> found;
  for (const Finding& finding : report.findings) {
    // A report from elsewhere may name no case.
    if (finding.scenario == scenario && !finding.cases.empty()) found.push_back(&finding);
  }
  return found;
}

std::string to_text(const Finding& finding) {
  std::string text = fmt::format("{}: {}", without_scenario(finding.cases.front()), finding.text);
  if (finding.cases.size() > 1) {
    text += fmt::format(" ({})", format_count(finding.cases.size(), "case"));
  }
  if (!finding.advice.empty()) text += "; try: " + finding.advice;
  return text + ".";
}

}  // namespace parbench::report
