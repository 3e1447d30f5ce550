// One run from what several processes have measured of the same cases.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// The cases in the report of one process.
struct ProcessCases {
  int process = 0;
  std::vector<report::CaseResult> cases;
};

/// Returns the cases of a scenario as `planned`, with the results of the processes:
/// - The samples of all processes, each with the number of its process; rounds continue from
/// process
///   to process. Nothing that follows from samples is filled: see summarise_case and compare_cases.
/// - A case that failed in one process has failed, because a wrong result has no number; its error
///   names the process. One that was skipped or not reached in some has the samples of the others.
/// - The reason for which sampling stopped is the most severe of all processes.
/// - The verification is that with the largest error, the bound the middle one, the profile the
///   first that there is; everything else is from the first process that measured the case. A note
///   names processes that ran on other kernels, and those that skipped it.
/// `processes`: how many the run has, for messages.
[[nodiscard]] std::vector<report::CaseResult> merged(const std::vector<report::CaseResult>& planned,
                                                     std::span<const ProcessCases> parts,
                                                     int processes);

}  // namespace parbench
