// The scenarios of a run, ready to start: their cases and the devices they run on.
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

/// Returns where the cases of a report that are measured again were cut (Context::Options).
[[nodiscard]] std::map<std::string, std::string> known_cuts(const RunOptions& options);

/// One scenario of a run.
struct Job {
  const Scenario* scenario = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Device> whole;  // with the cores of all of them, where a case needs it
  std::vector<CaseSpec> cases;    // never empty
  std::vector<LeftOut> left_out;

  /// Takes the devices. Those of a dry run do not measure. `ranks`: to which they belong, or null.
  [[nodiscard]] Context open(const RunOptions& options, RankTeam* ranks = nullptr) {
    return {std::move(devices),
            Context::Options{options.seed, !options.dry_run, ranks, known_cuts(options)},
            std::move(whole)};
  }
};

/// Opens the devices that a run of the scenario uses: those of the request, or its default ones.
/// Throws UsageError where none of them is capable of a flag. Over ranks it returns the devices of
/// all of them, one of each unless the request says otherwise.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_devices(const DeviceRequest& request,
                                                                const Scenario& scenario,
                                                                const Machine& machine,
                                                                RankTeam* ranks = nullptr);

/// What a run does.
struct JobPlan {
  std::vector<Job> jobs;          // in the order of their scenarios, at least one
  std::vector<LeftOut> left_out;  // scenarios without any case
};

/// Returns the chosen scenarios as jobs, or why they have no case. Throws UsageError for a choice
/// that is not possible, or that leaves nothing to do.
[[nodiscard]] JobPlan plan_jobs(const RunOptions& options, const BenchmarkFlags& flags,
                                const Machine& machine, RankTeam* ranks = nullptr);

/// How one of the jobs is sampled; its total time is that of the whole run.
[[nodiscard]] SamplerOptions sampler_options_of(const Job& job, const std::vector<Job>& jobs,
                                                const RunOptions& options,
                                                const BenchmarkFlags& flags);

/// Returns lines about what takes no part in a job, and why; empty where everything does.
[[nodiscard]] std::string left_out_text(const Job& job, std::size_t width);

/// The same of all jobs, and of the scenarios without any case.
[[nodiscard]] std::string left_out_text(const JobPlan& plan, std::size_t width);

}  // namespace parbench
