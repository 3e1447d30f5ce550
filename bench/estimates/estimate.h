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
  std::string device;            // whose memory that is, if none of the run's devices; else empty
  double execution_seconds = 0;  // one execution if every task runs at full speed
};

/// Bytes of a memory that one or several devices use: "the host", "cuda:0".
struct MemoryEstimate {
  std::string memory;
  std::size_t bytes = 0;
};

struct RunEstimate {
  std::vector<CaseEstimate> cases;
  std::vector<MemoryEstimate> memory;  // held by all fitting cases together
  int processes = 1;
  double min_seconds = 0;     // if every interval is narrow enough at once
  double max_seconds = 0;     // if every case uses its time limit
  int wanted_samples = 0;     // of each case
  double wanted_seconds = 0;  // time for those samples if --max-total-time is too short; else 0
  std::string made_of;        // the components of the times, as text
};

/// Plans each case and its reference without allocating their memory. A case gets an error if too
/// little memory is free beside the cases before it, or if it cannot be submitted as requested; it
/// takes no time, because a run skips it. The speed of tasks is estimated from a short product and
/// a short copy on each stream. `options`: those of the whole run; each of several processes gets
/// its share. `profiles`: add the profiling pass of one process. `together`: runs the planning of a
/// case on all ranks and throws on all ranks if it fails on one (RankTeam::together).
[[nodiscard]] RunEstimate estimate(
    const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
    const SamplerOptions& options, int processes = 1, bool profiles = false,
    const std::function<void(const std::function<void()>&)>& together = [](const auto& work) {
      work();
    });

/// Returns the estimate as a table of `width` columns, followed by the components of its time.
[[nodiscard]] std::string estimate_text(const Scenario& scenario, const Context& context,
                                        const RunEstimate& run, std::size_t width);

}  // namespace parbench
