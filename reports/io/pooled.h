// Combines several runs of the same programs into one report.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// A run and the name of its file; the name is empty for one of several runs in a file.
struct NamedRun {
  std::string name;
  Report report;
};

/// Returns one run with the processes of all runs; a single run unchanged. Processes of different
/// runs count as different processes, because runs of a program share neither memory layout nor
/// time.
/// - A case has the samples of all runs that contain it. It has no number if it failed or was
///   skipped in one of them.
/// - Facts about the run and its machine are those of the first run, but the start is the earliest
///   and circumstances have the values of all runs. Durations are added; the share that a quota
///   withheld is the mean, weighted by duration.
/// - Results that apply to one run are left out: speedups, metrics, bounds, profiles, answers,
///   findings, published figures.
/// - File notes count the cases that are not in every run and the differing commits, with an
///   example.
/// Throws UsageError for a mix of parbench and another program, for a copy of a run (same start and
/// samples), for different machines unless `allow_different_machine`, and as `check_report` does.
[[nodiscard]] Report pooled(std::vector<NamedRun> runs, bool allow_different_machine = false);

}  // namespace parbench::report
