// A run that is spread over fresh processes: what differs between processes and not within one
// (memory layout, thread placement, what else the machine does then) becomes part of the interval.
#pragma once

#include <vector>

#include "bench/benchmark_flags.h"
#include "bench/jobs.h"
#include "bench/options.h"
#include "bench/program.h"
#include "bench/report_builder.h"

namespace parbench {

/// Runs `options.launches` processes of this program one after the other, merges their reports into
/// one, after each of them, and delivers that. A process that crashes, hangs or is killed takes no
/// other with it; its end is told in the report, and the run has failed. After an interrupt what
/// was measured is delivered. The devices of the jobs are given back before.
[[nodiscard]] ExitCode run_launches(const Options& options, const BenchmarkFlags& flags,
                                    std::vector<Job> jobs, ReportBuilder report_builder);

}  // namespace parbench
