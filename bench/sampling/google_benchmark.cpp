#include "bench/sampling/google_benchmark.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <ostream>
#include <utility>

#include "kernels/base/error.h"

namespace parbench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

/// Collects the rows that Google Benchmark reports.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    collected.insert(collected.end(), runs.begin(), runs.end());
  }
  std::vector<Run> collected;
};

struct Outcome {
  double seconds = 0;
  double wall_seconds = 0;
  std::vector<double> rank_waits;
  double start_skew = 0;
  std::exception_ptr error;

  void add(const Timing& timing) {
    seconds += timing.seconds;
    wall_seconds += timing.wall_seconds;
    start_skew += timing.start_skew;
    rank_waits.resize(timing.rank_waits.size());
    std::ranges::transform(rank_waits, timing.rank_waits, rank_waits.begin(), std::plus());
  }
};

void check_time(const Timing& timing) {
  if (std::isfinite(timing.seconds) && timing.seconds >= 0) return;
  throw Error(fmt::format("an execution took {} s: its time must be a finite number, 0 or more",
                          timing.seconds));
}

void run_body(benchmark::State& state, const std::function<Timing()>& execute, Outcome& outcome) {
  for (auto _ : state) {
    try {
      const Timing timing = execute();
      check_time(timing);
      state.SetIterationTime(timing.seconds);
      outcome.add(timing);
    } catch (const std::exception& error) {
      outcome.error = std::current_exception();
      state.SkipWithError(error.what());
      break;
    } catch (...) {
      outcome.error = std::current_exception();
      state.SkipWithError("unknown exception");
      break;
    }
  }
}

}  // namespace

report::Sample sample_with_google_benchmark(std::int64_t iterations, int round,
                                            const std::function<Timing()>& execute) {
  Outcome outcome;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("sample",
                               [&](benchmark::State& state) { run_body(state, execute, outcome); })
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Iterations(iterations)
      ->Repetitions(1);
  Collector collector;
  std::ostream nowhere(nullptr);
  collector.SetOutputStream(&nowhere);
  collector.SetErrorStream(&nowhere);
  benchmark::RunSpecifiedBenchmarks(&collector, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (outcome.error) std::rethrow_exception(outcome.error);
  if (collector.collected.size() != 1) {
    throw Error(fmt::format("Google Benchmark reported {} rows for one sample",
                            collector.collected.size()));
  }
  const Run& run = collector.collected.front();
  const auto count = static_cast<double>(iterations);
  report::Sample sample{outcome.seconds / count, outcome.wall_seconds / count, iterations, round};
  sample.cpu_seconds = run.cpu_accumulated_time / count;
  sample.rank_waits = std::move(outcome.rank_waits);
  for (double& waits : sample.rank_waits) waits /= count;
  sample.start_skew = outcome.start_skew / count;
  for (const auto& [name, counter] : run.counters) {
    if (std::isfinite(counter.value)) sample.counters.emplace_back(name, counter);
  }
  return sample;
}

report::Sample sample_for_warm_up(std::int64_t iterations, const std::function<Timing()>& execute) {
  report::Sample sample;
  const auto count = static_cast<double>(iterations);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const Timing timing = execute();
    sample.seconds += timing.seconds / count;
    sample.wall_seconds += timing.wall_seconds / count;
  }
  sample.iterations = iterations;
  return sample;
}

std::vector<report::CpuCache> cpu_caches() {
  std::vector<report::CpuCache> caches;
  for (const auto& cache : benchmark::CPUInfo::Get().caches) {
    caches.push_back({cache.type, cache.level, cache.size, cache.num_sharing});
  }
  return caches;
}

}  // namespace parbench
