// Decides which cases of two reports may be compared, and why the others may not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::compare {

enum class MatchState {
  comparable,  // the same case on equal machines, measured on both sides
  failed_now,  // failed or wrong in the newer report, whatever the older report has
  // skipped, not run or without a usable time on either side, or failed in the older report
  not_measured,
  not_comparable,  // another machine, format, graph, parameter or kind of run
  only_base,       // only in the older report
  only_now,
};

/// Returns the state's name in files: "comparable", "failed_now", ….
[[nodiscard]] std::string_view to_string(MatchState state);

/// A pair of cases from two reports. The reports must outlive the match.
struct Match {
  MatchState state = MatchState::comparable;
  const report::CaseResult* base = nullptr;  // null if only NEW has the case
  const report::CaseResult* now = nullptr;   // null if only BASE has the case
  /// Why the pair was not measured, failed or is not comparable.
  std::string reason;

  [[nodiscard]] const report::CaseResult& any() const { return now != nullptr ? *now : *base; }
};

/// Renames the benchmarks of `base` to the program of `now`, so that the cases of two Google
/// Benchmark programs match by benchmark name even if the executables differ. Changes nothing if
/// parbench measured either report, or if either has benchmarks of several programs.
void unite_programs(report::Report& base, const report::Report& now);

/// Pairs the cases of two reports. Cases are the same if scenario, strategy, parameters with their
/// types, number format and graph are equal; parameters outside of a case's identity
/// (`hidden_parameters`) are ignored. A case without an equal case is paired with one of the same
/// name, or else with one that differs only in number format or graph; such pairs are not
/// comparable. The result has the order of `base`, followed by the cases that only `now` has.
/// Unless `allow_different_machine`, scenarios measured on machines with different fingerprints are
/// not comparable.
[[nodiscard]] std::vector<Match> match(const report::Report& base, const report::Report& now,
                                       bool allow_different_machine = false);

}  // namespace parbench::compare
