// Rows of a run, printed by Google Benchmark's reporters.
#pragma once

#include <iosfwd>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "reports/model/report.h"

namespace parbench {

/// Style of rows. Color and tabular counters apply to the console format only.
struct RowStyle {
  bool aggregates_only = false;
  bool color = false;
  bool counters_tabular = false;
};

/// Writes the samples of all cases with one of Google Benchmark's reporters: a row for each sample,
/// and mean, median, stddev and cv of each case with at least two samples.
void write_rows(std::ostream& out, const std::vector<report::CaseResult>& cases, RowFormat format,
                const RowStyle& style = {});

}  // namespace parbench
