// The part of a report that other people's readers of Google Benchmark's JSON look at.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/report.h"

namespace parbench::report {

/// JSON whose objects keep the order of their keys.
using Json = nlohmann::ordered_json;

/// `context` and `benchmarks` of Google Benchmark's JSON reporter.
struct GoogleBenchmarkPart {
  Json context = Json::object();
  Json benchmarks = Json::array();
};

/// The part as a report's file holds it, from what Google Benchmark's own reporter wrote during the
/// run. `raw.benchmarks` may hold the rows of all rounds in any order of cases, those of one case
/// in the order of its samples; warm-up rows must not be among them. In the result
/// - every measured case has one row per sample under its own name, without the "/iterations:2" or
///   "/manual_time" that Google Benchmark appends (two reports must pair up by name), all in
///   nanoseconds (compare.py ignores a row in another unit than its partner), renumbered;
/// - then, from two samples on, the rows mean, median, stddev and cv, from the case's statistics;
/// - cases that were not measured have no row;
/// - rates stand beside times: items_per_second, bytes_per_second, flop_per_second.
/// `cpu_time` and further counters come from the raw row. Without raw rows of a case, or with
/// another number of them than of samples, cpu_time is the sample's wall time. Missing context
/// fields are filled from the report's machine. Applied to its own result it changes nothing.
[[nodiscard]] GoogleBenchmarkPart arranged(const Report& report, const GoogleBenchmarkPart& raw);

/// The part in a file that was read, for `arranged`. Without it, an empty part. Throws UsageError
/// that names the place ("benchmarks[3].run_type") where a type is not what Google Benchmark
/// writes.
[[nodiscard]] GoogleBenchmarkPart google_benchmark_part(Json file);

/// Which rows of a case somebody reads.
enum class Rows {
  all,     // every repetition and the aggregates
  median,  // one row of the case's name with its median, for who compares rows by their names
};

/// A file in Google Benchmark's format without our own object: as `arranged`, but without the cases
/// one of whose times is no finite number. `raw` as for `arranged`. Throws UsageError when no case
/// is left: readers take that for a broken file.
[[nodiscard]] Json projected(const Report& report, const GoogleBenchmarkPart& raw, Rows rows);

}  // namespace parbench::report
