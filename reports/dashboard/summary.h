// The data of a report that a dashboard keeps: time, commit, and the medians of the cases.
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

/// The identity of a case across time and machines. Cases of one scenario and machine with equal
/// identities form one series. Hidden parameters are not part of the identity.
struct CaseIdentity {
  std::string strategy;
  NamedValues parameters;  // in any order
  std::string dtype;
  bool graph = false;
};

[[nodiscard]] CaseIdentity identity_of(const CaseResult& c);

/// Returns a key that is equal for equal identities only, regardless of the order of the
/// parameters; the values 5, 5.0 and "5" differ. UTF-8 text, stable across builds.
[[nodiscard]] std::string key_of(const CaseIdentity& identity);

/// A table that assigns numbers to identities: thousands of reports name the same few cases.
class Identities {
 public:
  [[nodiscard]] std::size_t number_of(const CaseIdentity& identity);
  [[nodiscard]] const CaseIdentity& operator[](std::size_t number) const { return list_[number]; }
  [[nodiscard]] std::size_t size() const { return list_.size(); }

 private:
  std::vector<CaseIdentity> list_;
  std::map<std::string, std::size_t> numbers_;  // numbers by `key_of`
};

/// The result of one case in one report.
struct CaseFigures {
  std::size_t identity = 0;
  std::optional<double> median;  // positive time in seconds; none: the case has no number
  std::optional<Interval> interval;
};

struct ScenarioSummary {
  std::string scenario;
  std::string machine_id;    // id of the machine's fingerprint
  std::string machine_text;  // `to_text` of the fingerprint
  std::vector<CaseFigures> cases;
};

/// The measured commit.
struct Commit {
  std::string id;      // empty: unknown
  bool dirty = false;  // whether there were uncommitted changes
  std::string subject;
  std::string author;
};

struct ReportSummary {
  std::int64_t started = 0;  // seconds since 1970, UTC
  Commit commit;
  NamedTexts labels;
  std::vector<ScenarioSummary> scenarios;
};

/// Summarises a report; its texts become `printable`. Throws UsageError if the report does not
/// belong in a history: it has no start time, or `is_profile`.
[[nodiscard]] ReportSummary summarise_report(const Report& report, Identities& identities);

}  // namespace parbench::report
