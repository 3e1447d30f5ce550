// Reduces a report to the data that its history needs.
#include "reports/dashboard/summary.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "kernels/base/error.h"
#include "reports/model/fingerprint.h"
#include "reports/text/text.h"
#include "reports/text/utc.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

CaseFigures figures_of(const CaseResult& c, std::size_t identity) {
  CaseFigures figures{identity, {}, {}};
  if (!has_number(c)) return figures;
  const double median = c.statistics->median;
  if (!std::isfinite(median) || median <= 0) return figures;
  figures.median = median;
  const auto& interval = c.statistics->median_interval;
  if (interval && std::isfinite(interval->low) && std::isfinite(interval->high) &&
      std::isfinite(interval->confidence)) {
    figures.interval = interval;
  }
  return figures;
}

CaseIdentity printable_identity(const CaseResult& c) {
  CaseIdentity identity = identity_of(c);
  identity.strategy = printable(identity.strategy);
  identity.dtype = printable(identity.dtype);
  for (auto& [name, value] : identity.parameters) {
    name = printable(name);
    if (auto* text = std::get_if<std::string>(&value)) *text = printable(*text);
  }
  return identity;
}

Commit commit_of(const Machine& machine) {
  return {printable(machine.commit.value_or("")), machine.dirty.value_or(false),
          printable(machine.commit_subject.value_or("")),
          printable(machine.commit_author.value_or(""))};
}

NamedTexts printable_labels(const NamedTexts& labels) {
  NamedTexts result;
  for (const auto& [key, value] : labels) result.emplace_back(printable(key), printable(value));
  return result;
}

}  // namespace

CaseIdentity identity_of(const CaseResult& c) {
  return {c.strategy, c.parameters, c.dtype, c.graph};
}

std::string key_of(const CaseIdentity& identity) {
  using SortedJson = nlohmann::json;  // sorts members by key
  SortedJson parameters = SortedJson::object();
  for (const auto& [name, value] : identity.parameters) {
    parameters[name] = std::visit([](const auto& v) { return SortedJson(v); }, value);
  }
  return SortedJson::array(
             {identity.strategy, std::move(parameters), identity.dtype, identity.graph})
      .dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

std::size_t Identities::number_of(const CaseIdentity& identity) {
  const auto [known, is_new] = numbers_.emplace(key_of(identity), list_.size());
  if (is_new) list_.push_back(identity);
  return known->second;
}

ReportSummary summarise_report(const Report& report, Identities& identities) {
  if (is_profile(report)) {
    throw UsageError(
        "was measured for a profiler (--for-profiler): a history cannot "
        "hold three executions of each case");
  }
  if (report.started_utc.empty()) {
    throw UsageError(
        "has no date, so its place in a history is not known; add \"date\" to its context, such as "
        "2026-11-21T19:57:32+00:00");
  }
  ReportSummary summary{seconds_of_utc(report.started_utc),
                        commit_of(report.machine),
                        printable_labels(report.labels),
                        {}};
  for (const ScenarioCases& group : by_scenario(report)) {
    const Fingerprint machine = fingerprint(report, group.scenario);
    ScenarioSummary scenario{
        printable(group.scenario), id_of(machine), printable(to_text(machine)), {}};
    for (const CaseResult* c : group.cases) {
      scenario.cases.push_back(figures_of(*c, identities.number_of(printable_identity(*c))));
    }
    summary.scenarios.push_back(std::move(scenario));
  }
  return summary;
}

}  // namespace parbench::report
