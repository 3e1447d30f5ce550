// Where the results of a run go: its report, files of rows, the terminal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/run_options.h"
#include "bench/output/exit_code.h"
#include "bench/output/progress.h"
#include "bench/run/benchmark_rows.h"
#include "bench/run/jobs.h"
#include "bench/run/report_builder.h"
#include "bench/run/trace_file.h"
#include "bench/sampling/session/session.h"

namespace parbench {

/// What the cases of a run have come to so far.
struct RunOutcome {
  bool interrupted = false;
  bool any_measured = false;
  bool all_measured = true;

  void add(const SessionResult& result) {
    any_measured = any_measured || result.any_measured();
    all_measured = all_measured && result.all_measured();
  }
};

/// The outputs of a run, in one process or several. The references outlive it.
class RunOutputs {
 public:
  /// Enters the jobs in the report. A process that is part of another run reports its progress to
  /// the process that started it, and writes nothing but its report.
  RunOutputs(const RunOptions& options, const BenchmarkFlags& flags, const JobPlan& plan,
             ReportBuilder report_builder);

  [[nodiscard]] ReportBuilder& report_builder() { return report_builder_; }
  [[nodiscard]] TraceFile& trace() { return trace_; }
  [[nodiscard]] Progress& progress() { return *progress_; }

  /// Updates the report's file. A failure is reported once and is not an error of the run: a disk
  /// that is full now may have space at the end. Returns whether the file is up to date.
  bool checkpoint();

  /// Writes all outputs, files before the terminal, which may be closed. A failure does not affect
  /// the other outputs and is reported at the end. Returns the exit code of the run.
  [[nodiscard]] ExitCode finish(const RunOutcome& outcome);

  /// Prints the tables of what the report has and where it is, for a run that ends early.
  void show_measured();

 private:
  /// Returns whether nothing failed.
  bool deliver(bool complete);
  /// Throws UsageError where the samples of the run that is resumed are those of another machine,
  /// another build or other settings of libraries.
  void require_same_conditions() const;
  /// Adds the peak rates that `parbench peaks` left in the cache. Reports a damaged file of it.
  void add_peaks();
  /// Rows for a program have standard output to themselves.
  void print_beside_rows(const std::string& text) const;
  void show() const;
  void print_next_command() const;
  void write_benchmark_out() const;

  const RunOptions& options_;
  const BenchmarkFlags& flags_;
  std::string left_out_;
  std::unique_ptr<Progress> progress_;
  ReportBuilder report_builder_;
  TraceFile trace_;
  bool warned_ = false;  // of a checkpoint that could not be written
};

}  // namespace parbench
