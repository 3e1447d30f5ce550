// What a dashboard keeps of a report: when and of which commit it is, and the medians of its cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/model/report.h"

namespace parbench::report {

/// What a case is, whenever and wherever it was measured: of cases of one scenario and one machine,
/// those with equal identities make up one series. Hidden parameters do not belong to it.
struct CaseIdentity {
  std::string strategy;
  NamedValues parameters;  // in any order
  std::string dtype;
  bool graph = false;
};

[[nodiscard]] CaseIdentity identity_of(const CaseResult& c);

/// Equal for equal identities and for no others, whatever the order of the parameters: 5, 5.0 and
/// "5" are different. ASCII or UTF-8 text, stable across builds.
[[nodiscard]] std::string key_of(const CaseIdentity& identity);

/// Identities by number: thousands of reports name the same few cases.
class Identities {
 public:
  [[nodiscard]] std::size_t number_of(const CaseIdentity& identity);
  [[nodiscard]] const CaseIdentity& operator[](std::size_t number) const { return list_[number]; }
  [[nodiscard]] std::size_t size() const { return list_.size(); }

 private:
  std::vector<CaseIdentity> list_;
  std::map<std::string, std::size_t> numbers_;  // by key
};

/// The figures of one case in one report.
struct CaseFigures {
  std::size_t identity = 0;
  std::optional<double> median;  // seconds, positive; none: the case has no number
  std::optional<Interval> interval;
};

struct ScenarioSummary {
  std::string scenario;
  std::string machine_id;    // of its fingerprint
  std::string machine_text;  // for people
  std::vector<CaseFigures> cases;
};

/// The commit that was measured.
struct Commit {
  std::string id;      // empty: not known
  bool dirty = false;  // with changes that were not committed
  std::string subject;
  std::string author;
};

struct ReportSummary {
  std::int64_t started = 0;  // seconds since 1970, UTC
  Commit commit;
  NamedTexts labels;
  std::vector<ScenarioSummary> scenarios;
};

/// Text of the report is made `printable`. Throws UsageError where the report has no place in a
/// history: it says no time at which it started, or `is_profile`.
[[nodiscard]] ReportSummary summarise_report(const Report& report, Identities& identities);

}  // namespace parbench::report
