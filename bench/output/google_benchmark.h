// Google Benchmark around the samples of a run, and its reporters for their rows.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/execution/plan_runner.h"
#include "reports/model/report.h"

namespace parbench {

/// How rows are written. Color and tabular counters are of the console format only.
struct RowStyle {
  bool aggregates_only = false;
  bool color = false;
  bool counters_tabular = false;
};

/// Takes one sample: `iterations` executions in one benchmark of one repetition under manual time.
/// The benchmark is registered, run and cleared, which takes 4 µs beside the time of its body
/// (Google Benchmark 1.7.1). The sample has the CPU time that Google Benchmark measured, and the
/// counters that its flags asked for. Rethrows what `execute` threw, and throws Error for a time
/// that is negative or not finite. Google Benchmark's state is global: one thread at a time.
[[nodiscard]] report::Sample sample_with_google_benchmark(std::int64_t iterations, int round,
                                                          const std::function<Timing()>& execute);

/// Writes the samples of all cases as one of Google Benchmark's reporters prints them: a row for
/// each sample, followed by mean, median, stddev and cv of each case with at least two.
void write_rows(std::ostream& out, const std::vector<report::CaseResult>& cases, RowFormat format,
                const RowStyle& style = {});

/// Returns the caches of this machine's first core.
[[nodiscard]] std::vector<report::CpuCache> cpu_caches();

}  // namespace parbench
