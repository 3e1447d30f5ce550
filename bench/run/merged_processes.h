// Merges the results of several processes for the same cases into one run.
#pragma once

#include <span>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// The cases in the report of one process.
struct ProcessCases {
  int process = 0;
  std::vector<report::CaseResult> cases;
};

/// Returns the cases of a scenario as `planned`, with the results of the processes:
/// - The samples of all processes, each with the number of its process. The rounds of a process are
///   numbered after those of the previous one. Statistics are not computed: see summarise_case and
///   compare_cases.
/// - A case that failed in one process has failed, because a wrong result has no time; its error
///   names the process. A case that some processes skipped or did not reach has the samples of the
///   others.
/// - The reason to stop sampling is the most severe of all processes.
/// - The verification is the one with the largest error, the bound that of the process with the
///   median efficiency, the profile the first one; the rest is from the first process that measured
///   the case. Notes name processes with other kernels, and processes that skipped the case.
///
/// `processes`: number of processes of the run, for messages.
[[nodiscard]] std::vector<report::CaseResult> merged(const std::vector<report::CaseResult>& planned,
                                                     std::span<const ProcessCases> parts,
                                                     int processes);

}  // namespace parbench
