// Accumulates pairs of reports into one comparison, for `ab`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/compare/paired.h"

namespace parbench::compare {

/// Takes the two reports of each pair and judges them with PairedComparison.
class PairedReports {
 public:
  PairedReports(PairedComparison::Plan plan, bool allow_different_machine)
      : pairs_(std::move(plan)), allow_different_machine_(allow_different_machine) {}

  /// Adds a pair. Returns the logarithm of the time ratio of each case that is comparable in this
  /// pair (`MatchState::comparable`); a time is the geometric mean of the processes' medians. A
  /// case that is not comparable in one of the pairs gets no verdict.
  LogRatios add(const NamedReport& base, const NamedReport& now);

  [[nodiscard]] const PairedComparison& pairs() const { return pairs_; }
  void conclude() { pairs_.conclude(); }

  /// Returns the comparison of the pairs so far; nothing before the first pair. The sides are those
  /// of the first pair, with the errors of all pairs and one process for each pair; times are
  /// geometric means over the pairs.
  [[nodiscard]] std::optional<Comparison> comparison() const;

 private:
  struct LogTimes {
    std::vector<double> base;
    std::vector<double> now;
  };

  void merge(std::vector<Row> rows);

  PairedComparison pairs_;
  bool allow_different_machine_;
  /// Comparison of the first pair, with the errors and states of later pairs merged.
  std::optional<Comparison> first_;
  std::map<std::string, LogTimes> times_;  // times in the pairs, by case name
};

}  // namespace parbench::compare
