// The part of a report's file for readers of Google Benchmark's JSON, derived from the report.
#pragma once

#include <string>

#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns `context` as Google Benchmark's JSON reporter writes it.
[[nodiscard]] Json google_benchmark_context(const Report& report);

/// Returns `benchmarks`, with the rows of each measured case:
/// - one row per sample, with the name of the case and without the suffixes "/iterations:2" and
///   "/manual_time" of Google Benchmark, so that two reports pair up by name; all in nanoseconds,
///   because compare.py ignores a row if its partner has another unit;
/// - with at least two samples, the rows mean, median, stddev and cv, from the case's statistics;
/// - the rates items_per_second, bytes_per_second and flop_per_second.
[[nodiscard]] Json google_benchmark_rows(const Report& report);

/// Selects the rows of a case that a format has.
enum class Rows {
  all,     // every repetition and the aggregates
  median,  // a row with the case's name and median, for readers that pair rows by name
};

/// Returns a file in Google Benchmark's format, without parbench's own object. Leaves out cases
/// without a number, and cases with a time that is negative, not finite or above 1e28 ns. Throws
/// UsageError if no case is left: readers would consider the file broken.
[[nodiscard]] std::string google_benchmark_text(const Report& report, Rows rows);

}  // namespace parbench::report
