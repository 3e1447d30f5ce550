// Pairs of reports on their way to a comparison: what `ab` adds up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/compare/comparison.h"
#include "reports/compare/paired.h"

namespace parbench::compare {

/// Takes the two reports of each pair and judges by PairedComparison.
class PairedReports {
 public:
  PairedReports(PairedComparison::Plan plan, bool allow_different_machine)
      : pairs_(std::move(plan)), allow_different_machine_(allow_different_machine) {}

  /// Adds a pair and returns what entered the comparison: of each case that both have measured, the
  /// logarithm of the ratio of times (medians of processes, their geometric mean where there are
  /// several). A case that is not comparable in any pair has no verdict in the end.
  LogRatios add(const NamedReport& base, const NamedReport& now);

  [[nodiscard]] const PairedComparison& pairs() const { return pairs_; }
  void conclude() { pairs_.conclude(); }

  /// What the pairs so far come to. The sides are those of the first pair, with as many processes
  /// as there were pairs; times are geometric means over the pairs. Nothing before the first pair.
  [[nodiscard]] std::optional<Comparison> comparison() const;

 private:
  struct LogTimes {
    std::vector<double> base;
    std::vector<double> now;
  };

  void merge(std::vector<Row> rows);

  PairedComparison pairs_;
  bool allow_different_machine_;
  std::optional<Comparison> first_;        // with what later pairs say of its rows
  std::map<std::string, LogTimes> times_;  // by case
};

}  // namespace parbench::compare
