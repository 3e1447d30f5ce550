// The --benchmark_* flags. They are checked before Google Benchmark reads them, because it would
// end the process or ignore values that it cannot read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

enum class RowFormat { console, json, csv };

/// Values of the flags that parbench handles itself, and the flags that it passes to Google
/// Benchmark.
struct BenchmarkFlags {
  std::string filter;  // as given; empty: all cases
  bool list_tests = false;
  std::optional<int> repetitions;          // exact number of samples of each case
  std::optional<double> min_time_seconds;  // minimum duration of one sample
  std::string out_path;                    // empty: no file
  RowFormat out_format = RowFormat::json;
  std::optional<RowFormat> display_format;  // format of rows on standard output, beside the table
  bool aggregates_only = false;          // no rows of samples in `out_path` and on standard output
  bool display_aggregates_only = false;  // no rows of samples on standard output
  std::optional<bool> color;             // colored console rows; empty: on a terminal
  bool counters_tabular = false;         // a column for each counter in console rows
  std::vector<std::string> passed;       // flags passed to Google Benchmark, as given
};

/// Checks names and values, passes flags to Google Benchmark, and returns these flags and the
/// values of the flags that parbench handles itself. Throws UsageError for a flag that Google
/// Benchmark 1.7 does not have, a flag that contradicts how parbench samples, and an invalid value.
/// First resets what an earlier call or the environment has set, such as context and time unit.
[[nodiscard]] BenchmarkFlags initialize_google_benchmark(const std::vector<std::string>& flags);

/// Returns whether `--benchmark_filter`, an extended regular expression searched in the name,
/// selects a case; "all" selects all, a leading '-' negates. Throws UsageError if it is invalid.
[[nodiscard]] bool selects(const BenchmarkFlags& flags, std::string_view case_name);

}  // namespace parbench
