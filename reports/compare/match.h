// Which cases of two reports may be compared, and why the others may not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::compare {

enum class MatchState {
  comparable,    // measured on both sides
  failed_now,    // failed or wrong in the newer report, with any result in the older one
  not_measured,  // skipped, not run, or without a usable time, on either side; failed in the older
  not_comparable,  // another machine, format, parameter or kind of run
  only_base,       // on one side only
  only_now,
};

/// "comparable", "failed_now", …: as it stands in files.
[[nodiscard]] std::string_view to_string(MatchState state);

/// A case of two reports, which must outlive it.
struct Match {
  MatchState state = MatchState::comparable;
  const report::CaseResult* base = nullptr;  // null of `only_now`
  const report::CaseResult* now = nullptr;   // null of `only_base`
  std::string reason;                        // why it is not comparable

  [[nodiscard]] const report::CaseResult& any() const { return now != nullptr ? *now : *base; }
};

/// Lets the cases of two programs that use Google Benchmark match by the names of the benchmarks,
/// whatever the programs' files are called: those of `base` get the name of the program of `now`.
/// Leaves other reports as they are, and those of several programs.
void unite_programs(report::Report& base, const report::Report& now);

/// Cases are the same when scenario, strategy, parameters with their types, number format and graph
/// are; parameters that do not belong to a case's identity (`hidden_parameters`) do not count. A
/// case without such a partner is shown beside one of its name, or else one that differs in number
/// format or graph only: those are not comparable. In the order of `base`, then those that only
/// `now` has. Unless `allow_different_machine`, scenarios that were measured on machines of
/// different fingerprints are not comparable.
[[nodiscard]] std::vector<Match> match(const report::Report& base, const report::Report& now,
                                       bool allow_different_machine = false);

}  // namespace parbench::compare
