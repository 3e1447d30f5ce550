// Options of sampling, from the command line and the preset.
#pragma once

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/sampling/sampler.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the options for sampling one scenario, from the command line, the --benchmark_* flags
/// and the preset; `total_seconds` is for the whole run. By default, the quick preset allows 20 s
/// for a case and `quick_seconds` for the run. The fixed numbers of samples of the published preset
/// and of --benchmark_repetitions are limited by --max-time and --max-total-time only. --precision
/// and --min-samples make the published preset adaptive, with 300 s for a case. A process that is
/// part of another run gets its share of each case's time; its total time is given by
/// --max-total-time, which the starting process passes. `quick_seconds`: sum of
/// Scenario::quick_seconds over the run's scenarios that have cases.
[[nodiscard]] SamplerOptions sampler_options(const RunOptions& options, const BenchmarkFlags& flags,
                                             const Scenario& scenario, double quick_seconds);

/// Returns the options of one of several processes. The process gets its share of all times and of
/// `floor_samples`, because intervals are computed from the medians of the processes. Other numbers
/// of samples and the precision apply to each process.
[[nodiscard]] SamplerOptions share_of(SamplerOptions whole, int processes);

}  // namespace parbench
