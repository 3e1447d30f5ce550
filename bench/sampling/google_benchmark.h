// Samples taken by Google Benchmark.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "reports/model/report.h"

namespace parbench {

/// Takes one sample: `iterations` executions in one benchmark of one repetition with manual time.
/// The sample has the CPU time that Google Benchmark measured, and the counters that its flags
/// requested. Rethrows exceptions of `execute`, and throws Error for a time that is negative or not
/// finite. Google Benchmark's state is global: one thread at a time.
[[nodiscard]] report::Sample sample_with_google_benchmark(std::int64_t iterations, int round,
                                                          const std::function<Timing()>& execute);

/// Executes `iterations` times without Google Benchmark, for samples that are not reported.
[[nodiscard]] report::Sample sample_for_warm_up(std::int64_t iterations,
                                                const std::function<Timing()>& execute);

/// Returns the caches of this machine's first core.
[[nodiscard]] std::vector<report::CpuCache> cpu_caches();

}  // namespace parbench
