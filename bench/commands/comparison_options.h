// Options and output of `compare` and `ab`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/flag.h"
#include "bench/output/exit_code.h"
#include "reports/compare/comparison.h"

namespace parbench {

struct ComparisonOptions {
  double threshold_percent = 2;         // smallest change that counts, in percent of the time
  double required_decided_percent = 0;  // min percentage of the cases of BASE with a verdict
  bool allow_different_machine = false;
  std::string format = "table";  // or "html", "markdown", "json"
  std::string output_path;
  std::optional<int> width;  // columns of the table

  void set(compare::Rule& rule) const {
    rule.threshold = threshold_percent / 100;
    rule.required_decided = required_decided_percent / 100;
  }
};

[[nodiscard]] std::vector<FlagRow> comparison_flags(ComparisonOptions& options);

/// Writes a comparison. Requires a path that check_output accepted.
void write_comparison(const compare::Comparison& comparison, const ComparisonOptions& options);

[[nodiscard]] ExitCode exit_code_of(const compare::Comparison& comparison);

}  // namespace parbench
