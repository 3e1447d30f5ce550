// Runs every sample under Google Benchmark and keeps its rows in Google Benchmark's own format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/plan_runner.h"
#include "reports/report.h"
#include "scenarios/scenario.h"

namespace parbench::report {
struct GoogleBenchmarkPart;  // its header brings a JSON library, which most users do without
}

namespace parbench {

/// How rows are written. Color and tabular counters are of the console format only.
struct RowStyle {
  bool aggregates_only = false;
  bool color = false;
  bool counters_tabular = false;
};

/// Google Benchmark's state is global, so one object at a time may run samples. A sample is one
/// benchmark registered, run and cleared: 4 µs beside the time of its body, whatever the number of
/// cases (Google Benchmark 1.7.1).
class GoogleBenchmark {
 public:
  GoogleBenchmark();
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  /// Makes a case known: the name of its rows, and what one execution amounts to, for the rate
  /// counters (items_per_second, bytes_per_second, flop_per_second).
  [[nodiscard]] std::size_t add(std::string name, Amount amount);

  /// One sample: `iterations` executions in one benchmark of one repetition under manual time.
  /// Rethrows what `execute` threw, and throws Error for a time that is negative or not finite; no
  /// row is kept then.
  [[nodiscard]] report::Sample sample(std::size_t index, std::int64_t iterations, int round,
                                      const std::function<Timing()>& execute);

  /// Drops the rows of a case: what failed or was wrong has no number.
  void discard(std::size_t index);
  void discard(const std::string& name);

  /// Adds the rows that another process has for its samples of `cases`, behind those that are here
  /// of the same names.
  void take_rows(const std::vector<report::Case>& cases, const report::GoogleBenchmarkPart& rows);

  /// The rows of all samples so far as Google Benchmark's JSON reporter writes them, one per sample
  /// with its repetition index, without aggregates. All numbers are finite.
  [[nodiscard]] report::GoogleBenchmarkPart part() const;

  /// The same rows as one of Google Benchmark's reporters prints them, followed by mean, median,
  /// stddev and cv of each case with at least two samples.
  void write(std::ostream& out, RowFormat format, const RowStyle& style = {}) const;

 private:
  class Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace parbench
