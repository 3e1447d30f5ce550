// The --benchmark_* flags: checked before Google Benchmark sees them, because it would end the
// process or ignore what it cannot read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

enum class RowFormat { console, json, csv };

/// The flags that parbench itself answers for; everything else has been handed to Google Benchmark.
struct BenchmarkFlags {
  std::string filter;  // as given; empty: every case
  bool list_tests = false;
  std::optional<int> repetitions;          // exactly so many samples of each case
  std::optional<double> min_time_seconds;  // least duration of one sample
  std::string out_path;                    // empty: none
  RowFormat out_format = RowFormat::json;
  std::optional<RowFormat> display_format;  // of rows on standard output, beside the table
  bool aggregates_only = false;             // in what is written to `out_path` and displayed
  bool display_aggregates_only = false;     // in what is displayed
  std::optional<bool> color;                // of displayed console rows; empty: on a terminal
  bool counters_tabular = false;            // in displayed console rows
  std::vector<std::string> passed;          // those that only Google Benchmark reads, as given
};

/// Checks names and values, hands the rest to Google Benchmark and returns ours. Throws UsageError
/// for a flag that Google Benchmark 1.7 does not have, one that contradicts how parbench samples,
/// and a value it cannot read. Forgets the flags of an earlier call.
[[nodiscard]] BenchmarkFlags initialize_google_benchmark(const std::vector<std::string>& flags);

/// Whether `--benchmark_filter` selects a case: an extended regular expression searched in its
/// name, "all" for every one, negated by a leading '-'. Throws UsageError when it is none.
[[nodiscard]] bool selects(const BenchmarkFlags& flags, std::string_view case_name);

}  // namespace parbench
