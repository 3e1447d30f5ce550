// How a scenario is sampled, from the command line and the preset.
#pragma once

#include <cstddef>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/sampling/sampler.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns how one scenario is sampled, from the command line, the --benchmark_* flags and the
/// preset; its total time is that of the whole run. Without --max-time, a case gets 20 s and the
/// run `quick_seconds`, so that a default sweep ends within three minutes. The fixed
/// numbers of the published preset and of --benchmark_repetitions are cut by --max-time and
/// --max-total-time only. --precision and --min-samples make the published preset adaptive, with
/// 300 s for a case. A process that is part of another run gets its share of the time of a case,
/// and its total time from the process that starts it. `quick_seconds`: of all scenarios of the run
/// that have cases (Scenario::quick_seconds).
[[nodiscard]] SamplerOptions sampler_options(const RunOptions& options, const BenchmarkFlags& flags,
                                             const Scenario& scenario, double quick_seconds);

/// Returns the options of one of several processes: its share of all times, and of the samples that
/// are taken whatever the time, because the intervals are of the medians of the processes. Wanted
/// counts and the precision hold for each.
[[nodiscard]] SamplerOptions share_of(SamplerOptions whole, int processes);

}  // namespace parbench
