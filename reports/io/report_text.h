// From the text of a report, or of the file of another program, to the report.
#pragma once

#include <iosfwd>

#include "reports/io/bounded_json.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns the report in a stream that can go back to its beginning: one of parbench, or the runs
/// of programs with Google Benchmark (google_benchmark_reader.h), repaired where that is
/// unambiguous (foreign/repair.h). Several runs of either kind, as objects one after the other or
/// as a list, are pooled (statistics/pooled.h). The report's notes on its file say what was
/// repaired. Throws UsageError: what is wrong, where, and the remedy.
[[nodiscard]] Report report_in(std::istream& stream, const ReadLimits& limits);

}  // namespace parbench::report
