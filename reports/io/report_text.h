// Parses the text of a report or of another program's file.
#pragma once

#include <iosfwd>

#include "reports/io/bounded_json.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns the report in a seekable stream: one of parbench, or runs of programs with Google
/// Benchmark (google_benchmark_reader.h), repaired where that is unambiguous (foreign/repair.h).
/// Several runs of either kind, as consecutive objects or as a list, are pooled (pooled.h). The
/// report's file notes describe the repairs. Throws UsageError with the problem, the path and the
/// remedy.
[[nodiscard]] Report report_in(std::istream& stream, const ReadLimits& limits);

}  // namespace parbench::report
