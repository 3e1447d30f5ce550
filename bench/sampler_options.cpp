// Limits and counts of samples.
#include "bench/sampler_options.h"

#include <limits>

namespace parbench {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr double default_case_seconds = 20;
constexpr double default_total_seconds = 140;
constexpr double seed_case_seconds = 300;
constexpr int profiled_samples = 3;

int seed_samples(const Options& options, const Scenario& scenario) {
  const bool adaptive = options.precision_given || options.min_samples;
  return options.preset == "seed" && !adaptive ? scenario.seed_sampling().samples : 0;
}

}  // namespace

SamplerOptions sampler_options(const Options& options, const BenchmarkFlags& flags,
                               const Scenario& scenario) {
  const bool seed = options.preset == "seed";
  SamplerOptions result;
  result.seed = options.seed;
  result.for_profiler = options.profile;
  result.precision = options.precision_percent / 100;
  result.min_samples = options.min_samples.value_or(result.min_samples);
  result.fixed_samples = flags.repetitions.value_or(
      options.profile ? profiled_samples : seed_samples(options, scenario));
  if (flags.min_time_seconds) {
    result.min_sample_seconds = *flags.min_time_seconds;
  } else if (options.profile) {
    result.fixed_iterations = 1;
  } else if (seed) {
    result.fixed_iterations = scenario.seed_sampling().iterations;
  }
  const bool limited = result.fixed_samples == 0;
  const double case_seconds = seed ? seed_case_seconds : default_case_seconds;
  result.max_seconds = options.max_time_seconds.value_or(limited ? case_seconds : infinite);
  const bool total = limited && !seed && !options.max_time_seconds;
  if (total) result.total_seconds = default_total_seconds;
  if (!options.launch) return result;
  // Launches that all went through their rounds in the same order would share what that does.
  result.seed += static_cast<std::uint64_t>(*options.launch);
  return share_of(result, options.launches);
}

SamplerOptions share_of(SamplerOptions whole, int launches) {
  whole.max_seconds /= launches;
  whole.total_seconds /= launches;
  whole.floor_samples = (whole.floor_samples + launches - 1) / launches;
  return whole;
}

}  // namespace parbench
