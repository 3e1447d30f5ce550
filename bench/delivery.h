// Where the results of a run go: its report, files of rows, the terminal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/benchmark_flags.h"
#include "bench/jobs.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/report_builder.h"
#include "bench/trace_file.h"

namespace parbench {

/// What every run has, whoever takes its samples. The references outlive it.
class Delivery {
 public:
  /// Plans the jobs in the report. A process that is one of several launches tells its progress to
  /// the one that started it, and delivers nothing but its report.
  Delivery(const Options& options, const BenchmarkFlags& flags, const std::vector<Job>& jobs,
           ReportBuilder report_builder);

  [[nodiscard]] ReportBuilder& report_builder() { return report_builder_; }
  [[nodiscard]] TraceFile& trace() { return trace_; }
  [[nodiscard]] Progress& progress() { return *progress_; }

  /// Brings the report's file up to date. A disk that is full now may not be at the end: the
  /// samples are worth more than this write, so a failure is told once and goes no further.
  void checkpoint();

  /// Brings the results to where they belong, files before the terminal, which may be gone. What
  /// fails takes nothing else with it and is told at the end. Returns whether nothing failed.
  bool finish(bool complete);

 private:
  /// Best rates that `parbench peaks` left in the cache. A damaged file of it is told.
  void add_peaks();
  void tell(const std::string& text) const;
  void show() const;
  void write_benchmark_out() const;

  const Options& options_;
  const BenchmarkFlags& flags_;
  std::string left_out_;
  std::unique_ptr<Progress> progress_;
  ReportBuilder report_builder_;
  TraceFile trace_;
  bool warned_ = false;  // of a checkpoint that could not be written
};

}  // namespace parbench
