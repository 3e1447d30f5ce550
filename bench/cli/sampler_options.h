// How a scenario is sampled, from the command line and the preset.
#pragma once

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/sampling/sampler.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns how one scenario is sampled, from the command line, the --benchmark_* flags and the
/// preset. Without --max-time, a case gets 20 s and all cases of the scenario together 140 s,
/// preparation included, so that a default sweep ends within two to three minutes. The fixed
/// numbers of the published preset and of --benchmark_repetitions are cut by --max-time only.
/// --precision and --min-samples make the published preset adaptive, with 300 s for a case. A
/// process that is part of another run gets its share.
[[nodiscard]] SamplerOptions sampler_options(const RunOptions& options, const BenchmarkFlags& flags,
                                             const Scenario& scenario);

/// Returns the options of one of several processes: its share of all times, and of the samples that
/// are taken whatever the time, because the intervals are of the medians of the processes. Wanted
/// counts and the precision hold for each.
[[nodiscard]] SamplerOptions share_of(SamplerOptions whole, int processes);

}  // namespace parbench
