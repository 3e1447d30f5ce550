// How a scenario is sampled, as the command line and the preset want it.
#pragma once

#include "bench/benchmark_flags.h"
#include "bench/options.h"
#include "bench/sampler.h"
#include "scenarios/scenario.h"

namespace parbench {

/// How one scenario is sampled, from the command line, the --benchmark_* flags and the preset.
/// Without --max-time, a case gets 20 s and all cases of the scenario together 140 s, preparation
/// included, so that a default sweep ends within two to three minutes. The fixed numbers of the
/// seed preset and of --benchmark_repetitions are cut by --max-time only. --precision and
/// --min-samples make the seed preset adaptive, with 300 s for a case. A process that is one of
/// several launches gets its share.
[[nodiscard]] SamplerOptions sampler_options(const Options& options, const BenchmarkFlags& flags,
                                             const Scenario& scenario);

/// What one of several launches gets: its share of all times, and of the samples that are taken
/// whatever the time, since the intervals are of the launches' medians. Wanted counts and the
/// precision hold for each.
[[nodiscard]] SamplerOptions share_of(SamplerOptions whole, int launches);

}  // namespace parbench
