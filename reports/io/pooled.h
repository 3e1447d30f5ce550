// Several runs of the same programs as one report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// A run and the name of its file; empty for a part of a file.
struct NamedRun {
  std::string name;
  Report report;
};

/// Returns the runs as one whose processes are those of all runs; a single run as it is. Runs of
/// one program share neither memory layout nor moment, so that each counts as a process of its own.
/// - A case has the samples of all runs that have it. It has no number if it failed or was skipped
///   in one of them.
/// - Facts of the run and its machine are those of the first one, but circumstances have the values
///   of all runs. Times of runs add up, and a quota withheld the mean over them.
/// - What holds for one run only is left out: speedups, metrics, bounds, profiles, answers,
///   findings.
/// - FileNotes name cases that are not in every run, and differing commits.
/// Throws UsageError for runs of parbench and of another program together, for a copy of a run (the
/// same start and samples), unless `allow_different_machine` for runs of different machines, and as
/// `check_report`.
[[nodiscard]] Report pooled(std::vector<NamedRun> runs, bool allow_different_machine = false);

}  // namespace parbench::report
