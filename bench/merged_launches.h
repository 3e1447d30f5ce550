// One run from what several processes have measured of the same cases.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// What one launch has left.
struct LaunchCases {
  int launch = 0;
  std::vector<report::CaseResult> cases;
};

/// The cases of a scenario as `planned`, with what the launches found of them by name:
/// - The samples of all launches, each with its launch; rounds count on from launch to launch.
///   Nothing that follows from samples is filled: see summarise_case and compare_cases.
/// - A case that failed in one launch has failed, since a wrong result has no number; its error
///   names the launch. One that was skipped or not reached in some has the samples of the others.
/// - What ended the sampling is the gravest that ended it in any launch.
/// - The verification is that with the largest error, the bound the middle one, the profile the
///   first that there is; everything else is from the first launch that measured the case. A note
///   names launches that ran on other kernels, and those that have skipped it.
/// `launches`: how many the run has, for the words.
[[nodiscard]] std::vector<report::CaseResult> merged(const std::vector<report::CaseResult>& planned,
                                                     std::span<const LaunchCases> parts,
                                                     int launches);

}  // namespace parbench
