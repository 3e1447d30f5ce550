// Estimates of a run's time and memory without running it, for `--dry-run`.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/sampling/sampler.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

struct CaseEstimate {
  std::string name;
  std::string error;                      // why a run would skip it; empty: it would run
  std::vector<std::size_t> device_bytes;  // peak memory, one entry per device of the context
  std::string device;            // device with all cores, if the case runs on it; else empty
  double execution_seconds = 0;  // one execution if every task runs at full speed
};

/// Memory that one or several devices share ("the host", "cuda:0"), and the bytes needed of it.
struct MemoryEstimate {
  std::string memory;
  std::size_t bytes = 0;
};

struct RunEstimate {
  std::vector<CaseEstimate> cases;
  std::vector<MemoryEstimate> memory;  // held by all fitting cases together
  int processes = 1;
  double min_seconds = 0;     // if every case ends after its minimum number of samples
  double max_seconds = 0;     // if every case uses its time limit
  int wanted_samples = 0;     // samples of each case: fixed number or minimum
  double wanted_seconds = 0;  // time for those samples if --max-total-time is too short; else 0
  std::string made_of;        // text that describes what the times include
};

/// Plans each case and its reference without allocating their memory. A case that a run would skip
/// gets an error and takes no time; a frequent reason is that too little memory is left beside the
/// cases before it. The speed of tasks is estimated from a short product and a short copy on each
/// stream. `options` applies to the whole run; each of several processes gets its share.
/// `profiles`: add the profiling pass of one process. `together`: runs the planning of a case on
/// all ranks and throws on all ranks if it fails on one (RankTeam::together).
[[nodiscard]] RunEstimate estimate(
    const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
    const SamplerOptions& options, int processes = 1, bool profiles = false,
    const std::function<void(const std::function<void()>&)>& together = [](const auto& work) {
      work();
    });

/// Returns memory and time of each case and of the run, as text of at most `width` columns,
/// followed by a description of what the time includes.
[[nodiscard]] std::string estimate_text(const Scenario& scenario, const Context& context,
                                        const RunEstimate& run, std::size_t width);

}  // namespace parbench
