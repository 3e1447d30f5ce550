// A run that is spread over new processes: what differs between processes and not within one
// (memory layout, thread placement, other load of the machine) becomes part of the interval.
#pragma once

#include "bench/output/exit_code.h"
#include "bench/run/job_run.h"

namespace parbench {

/// Runs `options.processes` processes of this program one after the other, merges their reports
/// into one after each of them, and writes that. A process that crashes, hangs or is killed is
/// reported and fails the run; the other processes continue. After an interrupt the outputs have
/// what was measured. Each process gets an equal share of the time that is left. The devices of the
/// jobs are closed before.
[[nodiscard]] ExitCode run_processes(const RunEnvironment& run, JobPlan plan,
                                     ReportBuilder report_builder);

}  // namespace parbench
