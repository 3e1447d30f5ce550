// A run in this process: a session for each of its jobs, one after the other.
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

/// What a run uses from its begin to its end. All references outlive it.
struct RunEnvironment {
  const RunOptions& options;
  const BenchmarkFlags& flags;
  const Machine& machine;
  const RunLimit& limit;
  RankTeam* team = nullptr;  // the ranks of the run; null: one process
};

/// Measures the jobs and keeps the report up to date. `own_processes`: those of the run beside this
/// one (SessionEnvironment).
[[nodiscard]] ExitCode run_jobs(const RunEnvironment& run, JobPlan plan,
                                ReportBuilder report_builder,
                                std::vector<OwnProcess> own_processes);

/// Runs the jobs on a rank other than the first, session by session as that runs them, and reports
/// nothing.
void follow_jobs(RankTeam& team, const RunOptions& options, const BenchmarkFlags& flags,
                 std::vector<Job>& jobs);

}  // namespace parbench
