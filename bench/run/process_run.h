// A run over several new processes. Effects that differ between processes (memory layout, thread
// placement, load of the machine) become part of the intervals.
#pragma once

#include "bench/output/exit_code.h"
#include "bench/run/job_run.h"

namespace parbench {

/// Runs `options.processes` processes of this program one after the other. After each process,
/// merges the reports so far into one and writes that. A process that crashes, hangs or is killed
/// is reported and fails the run; the other processes continue. After an interrupt, the outputs
/// have the results so far. Each process gets an equal share of the remaining time. Closes the
/// devices of the jobs first.
[[nodiscard]] ExitCode run_processes(const RunEnvironment& run, JobPlan plan,
                                     ReportBuilder report_builder);

}  // namespace parbench
