// The rows of a run as Google Benchmark's own reporters print them.
#pragma once

#include <iosfwd>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "reports/model/report.h"

namespace parbench {

/// How rows are written. Color and tabular counters are of the console format only.
struct RowStyle {
  bool aggregates_only = false;
  bool color = false;
  bool counters_tabular = false;
};

/// Writes the samples of all cases as one of Google Benchmark's reporters prints them: a row for
/// each sample, followed by mean, median, stddev and cv of each case with at least two.
void write_rows(std::ostream& out, const std::vector<report::CaseResult>& cases, RowFormat format,
                const RowStyle& style = {});

}  // namespace parbench
