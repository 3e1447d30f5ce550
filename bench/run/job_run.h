// A run in this process: a session for each of its jobs, in order.
#pragma once

#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/output/exit_code.h"
#include "bench/ranks/rank_team.h"
#include "bench/run/jobs.h"
#include "bench/run/report_builder.h"
#include "bench/run/run_limit.h"
#include "bench/sampling/conditions/own_processes.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// Objects that a run uses from beginning to end. All references must outlive it.
struct RunEnvironment {
  const RunOptions& options;
  const BenchmarkFlags& flags;
  const Machine& machine;
  const RunLimit& limit;
  RankTeam* team = nullptr;  // the ranks of the run; null: one process
};

/// Measures the jobs and updates the report. `own_processes`: the run's other processes
/// (SessionEnvironment).
[[nodiscard]] ExitCode run_jobs(const RunEnvironment& run, JobPlan plan,
                                ReportBuilder report_builder,
                                std::vector<OwnProcess> own_processes);

/// Runs the jobs on a rank other than the first, together with the first rank, and reports nothing.
void follow_jobs(RankTeam& team, const RunOptions& options, const BenchmarkFlags& flags,
                 std::vector<Job>& jobs);

}  // namespace parbench
