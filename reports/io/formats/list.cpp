// The list of formats: a new format is a line here.
#include <array>

#include "reports/io/formats/format.h"
#include "reports/io/google_benchmark.h"

namespace parbench::report {
namespace {

/// Returns all rows. compare.py pairs rows by name and unit, and applies its U test to the
/// repetitions; conbench prefers rates to times. A row needs `name`, `real_time`, `cpu_time` and
/// `time_unit` (tools/gbench/report.py of Google Benchmark 1.7.1).
std::string all_rows(const Report& report) { return google_benchmark_text(report, Rows::all); }

/// Returns one row per case, its median.
/// - github-action-benchmark's tool 'googlecpp' draws `real_time` in `time_unit` of every row by
///   its `name`, including aggregates and failed rows (extractGoogleCppResult in src/extract.ts of
///   benchmark-action/github-action-benchmark).
/// - Bencher's adapter 'cpp_google' requires `context.caches` as a list of objects, and `name`, a
///   finite `real_time` and `time_unit` in every row; else it refuses the file. Of rows with the
///   same name, it uses the last (adapters/cpp/google.rs of bencherdev/bencher).
std::string median_rows(const Report& report) {
  return google_benchmark_text(report, Rows::median);
}

}  // namespace

std::span<const Format> formats() {
  static constexpr std::array all{
      Format{"google-benchmark", "all rows, for compare.py and conbench", all_rows},
      Format{"github-action-benchmark", "medians, for its tool 'googlecpp'", median_rows},
      Format{"bencher", "medians, for its adapter 'cpp_google'", median_rows},
      Format{"csv", "every case and everything known of it, but for the samples", csv_text},
      Format{"csv-calls", "the calls of every profiled case by layer, operation and kernel",
             csv_of_calls},
      Format{"prometheus",
             "gauges in the text format, for the textfile collector or a push gateway",
             prometheus_text},
      Format{"markdown", "tables for a comment on GitHub", markdown_text},
  };
  return all;
}

}  // namespace parbench::report
