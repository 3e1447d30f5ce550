// The part of a report's file that readers of Google Benchmark's JSON use. It follows from the
// report.
#pragma once

#include <string>

#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns `context` as Google Benchmark's JSON reporter writes it.
[[nodiscard]] Json google_benchmark_context(const Report& report);

/// Returns `benchmarks`, with the rows of each measured case:
/// - one row for each sample under the name of the case, without the "/iterations:2" and
///   "/manual_time" that Google Benchmark appends (two reports must pair up by name), all in
///   nanoseconds (compare.py ignores a row in another unit than its partner),
/// - then, from two samples on, the rows mean, median, stddev and cv, from the case's statistics;
/// - rates follow the times: items_per_second, bytes_per_second, flop_per_second.
[[nodiscard]] Json google_benchmark_rows(const Report& report);

/// Which rows of a case a format has.
enum class Rows {
  all,     // every repetition and the aggregates
  median,  // one row of the case's name with its median, for readers that pair rows by their names
};

/// Returns the text of a file in Google Benchmark's format without parbench's own object. Cases
/// with a time that is not a finite number are left out. Throws UsageError when no case is left:
/// readers take that for a broken file.
[[nodiscard]] std::string google_benchmark_text(const Report& report, Rows rows);

}  // namespace parbench::report
