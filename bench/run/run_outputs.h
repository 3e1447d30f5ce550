// Outputs of a run: report, trace, file of Google Benchmark's rows, terminal.
#pragma once

#include <memory>
#include <string>

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

struct RunOutcome {
  bool interrupted = false;
  bool any_measured = false;
  bool all_measured = true;

  void add(const SessionResult& result) {
    any_measured = any_measured || result.any_measured();
    all_measured = all_measured && result.all_measured();
  }
};

/// The outputs of a run in one or several processes. The references must outlive it.
class RunOutputs {
 public:
  /// Adds the jobs to the report. A process that is part of another run writes its report only, and
  /// reports its progress to the process that started it.
  RunOutputs(const RunOptions& options, const BenchmarkFlags& flags, const JobPlan& plan,
             ReportBuilder report_builder);

  [[nodiscard]] ReportBuilder& report_builder() { return report_builder_; }
  [[nodiscard]] TraceFile& trace() { return trace_; }
  [[nodiscard]] Progress& progress() { return *progress_; }

  /// Updates the report's file. A failure is reported once and does not fail the run: a disk that
  /// is full now may have space at the end. Returns whether the file is up to date.
  bool checkpoint();

  /// Writes all outputs, files before the terminal, which may be closed. A failure does not affect
  /// the other outputs and is reported at the end. Returns the exit code of the run.
  [[nodiscard]] ExitCode finish(const RunOutcome& outcome);

  /// Prints the tables and the path of the report, for a run that ends early.
  void show_measured();

 private:
  /// Writes all outputs. Returns whether none failed.
  bool deliver(bool complete);
  /// Throws UsageError if the samples of the resumed run come from another machine, another build
  /// or other library settings.
  void require_same_conditions() const;
  /// Adds the peak rates that `parbench peaks` stored, and reports damaged files of the cache.
  void add_peaks();
  /// Prints text to standard output, or to standard error if standard output has rows for a
  /// program.
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
  bool warned_ = false;  // a failed checkpoint was reported
};

}  // namespace parbench
