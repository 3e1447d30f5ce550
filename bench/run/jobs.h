// The scenarios of a run, ready to start: their cases and devices.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/ranks/rank_team.h"
#include "bench/run/case_expansion.h"
#include "bench/sampling/sampler.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns where the stages of the cases of --rerun or --resume began, by case name
/// (Context::Options).
[[nodiscard]] std::map<std::string, std::string> known_cuts(const RunOptions& options);

struct Job {
  const Scenario* scenario = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Device> whole;  // device with the cores of all devices; null if no case uses it
  std::vector<CaseSpec> cases;    // not empty in a JobPlan
  std::vector<LeftOut> left_out;

  /// Moves the devices into a context. In a dry run, the context does not measure. `ranks`: may be
  /// null.
  [[nodiscard]] Context open(const RunOptions& options, RankTeam* ranks = nullptr) {
    return {std::move(devices),
            Context::Options{options.seed, !options.dry_run, ranks, known_cuts(options)},
            std::move(whole)};
  }
};

/// Opens the devices that a run of the scenario uses: those of the request, or the scenario's
/// default number. Over ranks, returns the devices of all ranks, by default one of each rank.
/// Throws UsageError if no device supports a flag.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_devices(const DeviceRequest& request,
                                                                const Scenario& scenario,
                                                                const Machine& machine,
                                                                RankTeam* ranks = nullptr);

struct JobPlan {
  std::vector<Job> jobs;          // in the order of their scenarios, at least one
  std::vector<LeftOut> left_out;  // scenarios without any case
};

/// Plans a job for each chosen scenario that has cases; the others are left out with the reason.
/// Throws UsageError for flags that exclude each other or that the scenario, its devices or the
/// ranks do not support, and if no case is left.
[[nodiscard]] JobPlan plan_jobs(const RunOptions& options, const BenchmarkFlags& flags,
                                const Machine& machine, RankTeam* ranks = nullptr);

/// Returns the options for sampling a job; the total time is for the whole run.
[[nodiscard]] SamplerOptions sampler_options_of(const Job& job, const std::vector<Job>& jobs,
                                                const RunOptions& options,
                                                const BenchmarkFlags& flags);

/// Returns lines about what a job leaves out, with reasons; empty if nothing.
[[nodiscard]] std::string left_out_text(const Job& job, std::size_t width);

/// Returns the same for all jobs, and for the scenarios without any case.
[[nodiscard]] std::string left_out_text(const JobPlan& plan, std::size_t width);

}  // namespace parbench
