// Reads reports from files that other programs wrote with Google Benchmark.
#pragma once

#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns whether a file is in Google Benchmark's format: it has `benchmarks`, with a `context` or
/// times, but no report of parbench.
[[nodiscard]] bool is_google_benchmark(const Json& file);

/// Converts a file in Google Benchmark's format, of any version of the library, to a report:
/// - the program is the scenario, a benchmark is a case (`benchmark_name`), and a repetition is a
///   sample in its own round, because the file does not show which were taken next to each other;
/// - a benchmark that reported an error is failed, one that skipped itself is skipped, even if only
///   some repetitions did; aggregates are not used;
/// - a benchmark is failed if a repetition has no usable real time; another field with an unusable
///   value is unknown for that case, and a note names it;
/// - benchmarks with the same name are numbered: "BM_sum", "BM_sum (2)";
/// - the model of the processor is described by its caches, because the file does not name it;
///   values that the context lacks are unknown: time, cores, caches;
/// - the commit is that of --benchmark_context=commit=HASH, with commit_subject and commit_author;
///   other texts of the context are labels.
/// Throws UsageError with the path ("benchmarks[3].time_unit"), the problem and the remedy, also
/// for a file with aggregates only.
[[nodiscard]] Report from_google_benchmark(const Json& file);

}  // namespace parbench::report
