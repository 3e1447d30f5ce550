// The scenarios of a run, ready to start: their cases and the devices they run on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/run/sweep.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// One scenario of a run.
struct Job {
  const Scenario* scenario = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<CaseSpec> cases;  // never empty
  std::vector<LeftOut> left_out;

  /// Takes the devices. Those of a dry run do not measure.
  [[nodiscard]] Context open(const RunOptions& options) {
    return {std::move(devices), Context::Options{options.seed, !options.dry_run}};
  }
};

/// Opens the devices that a run of the scenario uses: those of the request, or its default ones.
/// Throws UsageError where none of them is capable of a flag.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_devices(const DeviceRequest& request,
                                                                const Scenario& scenario,
                                                                const Machine& machine);

/// Returns the chosen scenarios in their order, without those that have no case. Throws UsageError
/// for a choice that is not possible, or that leaves nothing to do.
[[nodiscard]] std::vector<Job> plan_jobs(const RunOptions& options, const BenchmarkFlags& flags,
                                         const Machine& machine);

/// Returns lines about what takes no part in a job, and why; empty where everything does.
[[nodiscard]] std::string left_out_text(const Job& job, std::size_t width);

}  // namespace parbench
