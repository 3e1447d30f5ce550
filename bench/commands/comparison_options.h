// Options of the commands that give verdicts, and how they write them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/flag.h"
#include "bench/output/exit_code.h"
#include "reports/compare/comparison.h"

namespace parbench {

struct ComparisonOptions {
  double threshold_percent = 2;         // the smallest change that counts, of the time
  double required_decided_percent = 0;  // of the cases of BASE
  bool allow_different_machine = false;
  std::string format = "table";  // or "html", "markdown", "json"
  std::string output_path;
  std::optional<int> width;  // of the table

  /// Writes what the flags say into a rule.
  void set(compare::Rule& rule) const {
    rule.threshold = threshold_percent / 100;
    rule.required_decided = required_decided_percent / 100;
  }
};

/// Returns the flags of these options.
[[nodiscard]] std::vector<FlagRow> comparison_flags(ComparisonOptions& options);

/// Writes a comparison. The caller has checked the path.
void write_comparison(const compare::Comparison& comparison, const ComparisonOptions& options);

/// Returns the exit code that a comparison stands for.
[[nodiscard]] ExitCode exit_code_of(const compare::Comparison& comparison);

}  // namespace parbench
