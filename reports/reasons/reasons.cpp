// Rules over scenarios; what a rule says of several cases is one finding.
#include "reports/reasons/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "reports/fingerprint.h"
#include "reports/reasons/losses.h"
#include "reports/reasons/rules.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

std::vector<std::string> scenarios_of(const Report& report) {
  std::vector<std::string> names;
  for (const Case& one : report.cases) {
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
  if (!devices_alike(report, scenario)) return;  // what would be ideal is not known
  const ProfiledCases cases(report, scenario);
  auto one = cases.all().begin();
  for (Case& own : report.cases) {
    if (one == cases.all().end() || &one->of() != &own) continue;
    const Profiled* baseline = cases.baseline_of(*one);
    own.profile->losses = baseline != nullptr ? losses_of(*one, *baseline) : std::nullopt;
    ++one;
  }
}

/// What a rule says of the cases of a scenario: the strongest of its remarks, and whom it concerns,
/// that one first.
std::optional<Finding> finding_of(const Rule& rule, const ProfiledCases& cases) {
  Finding finding;
  double most = 0;
  for (const Profiled& one : cases.all()) {
    std::optional<Remark> remark = rule.look(one, cases);
    if (!remark) continue;
    if (finding.cases.empty() || remark->weight > most) {
      most = remark->weight;
      finding.text = std::move(remark->text);
      finding.advice = std::move(remark->advice);
      finding.evidence = std::move(remark->evidence);
      finding.cases.insert(finding.cases.begin(), one.name());
    } else {
      finding.cases.push_back(one.name());
    }
  }
  if (finding.cases.empty()) return std::nullopt;
  finding.scenario = cases.all().front().of().scenario;
  finding.rule = rule.name;
  return finding;
}

}  // namespace

void find_reasons(Report& report) {
  report.findings.clear();
  for (const std::string& scenario : scenarios_of(report)) {
    find_losses(report, scenario);
    const ProfiledCases cases(report, scenario);
    for (const Rule& rule : all_rules()) {
      if (auto finding = finding_of(rule, cases)) report.findings.push_back(*std::move(finding));
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
  const std::string& name = finding.cases.front();
  std::string text = fmt::format("{}: {}", name.substr(name.find('/') + 1), finding.text);
  if (finding.cases.size() > 1) {
    text += fmt::format(" (so in {})", format_count(finding.cases.size(), "case"));
  }
  if (!finding.advice.empty()) text += "; try: " + finding.advice;
  return text + ".";
}

}  // namespace parbench::report
