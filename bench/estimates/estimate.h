// What a run would take, without running it: the answer to `--dry-run`.
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
  std::string error;                      // why a run would not measure it; empty: it would
  std::vector<std::size_t> device_bytes;  // peak memory, one entry per device of the context
  std::string device;            // whose memory that is, where it is none of the run's; else empty
  double execution_seconds = 0;  // of one execution, if every task ran at full speed
};

/// Bytes of a memory that one or several devices have: "the host", "cuda:0".
struct MemoryEstimate {
  std::string memory;
  std::size_t bytes = 0;
};

struct RunEstimate {
  std::vector<CaseEstimate> cases;
  std::vector<MemoryEstimate> memory;  // that all cases which fit hold at once
  int processes = 1;
  double min_seconds = 0;     // when every interval is narrow enough at once
  double max_seconds = 0;     // when every case uses its time
  int wanted_samples = 0;     // of each case
  double wanted_seconds = 0;  // that those would take, where --max-total-time is too short; else 0
  std::string made_of;        // what the times are the sum of, in words
};

/// Plans each case and its reference without allocating their memory, and says which would find too
/// little of it beside the cases before it, as things are now, and which cannot be launched as they
/// were asked for. Such a case takes no time, as a run skips it. A short product and a short copy
/// on each stream show how fast its tasks may run. `options` are those of the whole run, of which
/// each of several processes gets its share; `profiles` adds the profiling pass of one of them.
/// `together` runs the planning of a case on all ranks of the run, and throws on all what fails on
/// one (RankTeam::together).
[[nodiscard]] RunEstimate estimate(
    const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
    const SamplerOptions& options, int processes = 1, bool profiles = false,
    const std::function<void(const std::function<void()>&)>& together = [](const auto& work) {
      work();
    });

/// Returns the estimate as a table of so many columns, and below it what its time is made of.
[[nodiscard]] std::string estimate_text(const Scenario& scenario, const Context& context,
                                        const RunEstimate& run, std::size_t width);

}  // namespace parbench
