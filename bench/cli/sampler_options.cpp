#include "bench/cli/sampler_options.h"

#include <limits>

namespace parbench {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr double default_case_seconds = 20;
constexpr double published_case_seconds = 300;
constexpr int profiled_samples = 3;

int published_samples(const RunOptions& options, const Scenario& scenario) {
  const bool adaptive = options.precision_percent || options.min_samples;
  return options.preset == Preset::published && !adaptive ? scenario.published_sampling().samples
                                                          : 0;
}

double total_seconds(const RunOptions& options, bool limited, double quick_seconds) {
  if (options.max_total_time_seconds) return *options.max_total_time_seconds;
  const bool by_default =
      limited && options.preset == Preset::quick && !options.max_time_seconds && !options.process;
  return by_default ? quick_seconds : infinite;
}

}  // namespace

SamplerOptions sampler_options(const RunOptions& options, const BenchmarkFlags& flags,
                               const Scenario& scenario, double quick_seconds) {
  const bool published = options.preset == Preset::published;
  SamplerOptions result;
  result.seed = options.seed;
  result.for_profiler = options.for_profiler;
  result.measures_equal_plans = published;
  result.precision = options.precision_percent.value_or(1) / 100;
  result.min_samples = options.min_samples.value_or(result.min_samples);
  result.fixed_samples = flags.repetitions.value_or(
      options.for_profiler ? profiled_samples : published_samples(options, scenario));
  if (flags.min_time_seconds) {
    result.min_sample_seconds = *flags.min_time_seconds;
  } else if (options.for_profiler) {
    result.fixed_iterations = 1;
  } else if (published) {
    result.fixed_iterations = scenario.published_sampling().iterations;
  }
  const bool limited = result.fixed_samples == 0;
  const double case_seconds = published ? published_case_seconds : default_case_seconds;
  result.max_seconds = options.max_time_seconds.value_or(limited ? case_seconds : infinite);
  result.total_seconds = total_seconds(options, limited, quick_seconds);
  if (!options.process) return result;
  // Different seeds, because processes with the same order of rounds would share its effects.
  result.seed += static_cast<std::uint64_t>(*options.process);
  SamplerOptions share = share_of(result, options.processes);
  share.total_seconds = result.total_seconds;
  return share;
}

SamplerOptions share_of(SamplerOptions whole, int processes) {
  whole.max_seconds /= processes;
  whole.total_seconds /= processes;
  whole.floor_samples = (whole.floor_samples + processes - 1) / processes;
  return whole;
}

}  // namespace parbench
