// Files first, then the terminal.
#include "bench/run/run_outputs.h"

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <sstream>
#include <utility>

#include "bench/cli/output.h"
#include "bench/cli/sampler_options.h"
#include "bench/output/progress_messages.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/model/fingerprint.h"
#include "reports/views/table.h"

namespace parbench {
namespace {

std::unique_ptr<Progress> progress_of(const RunOptions& options) {
  if (options.process) return make_progress_messages(std::cout);
  return make_progress(std::cerr, standard_error_options(options.quiet || options.for_profiler));
}

}  // namespace

RunOutputs::RunOutputs(const RunOptions& options, const BenchmarkFlags& flags,
                       const std::vector<Job>& jobs, ReportBuilder report_builder)
    : options_(options),
      flags_(flags),
      progress_(progress_of(options)),
      report_builder_(std::move(report_builder)),
      trace_(options.trace_path, options.trace_cases) {
  for (const Job& job : jobs) {
    report_builder_.plan(*job.scenario, job.cases, sampler_options(options, flags, *job.scenario));
    report_builder_.add_devices(*job.scenario, job.devices);
    left_out_ += left_out_text(job);
  }
  if (options.resumed) require_same_machine();
  if (!options.process) add_peaks();
}

void RunOutputs::require_same_machine() const {
  const report::Report& report = report_builder_.report();
  for (const report::Sampling& one : report.sampling) {
    const auto here = report::fingerprint(report, one.scenario);
    if (here == report::fingerprint(*options_.resumed, one.scenario)) continue;
    throw UsageError(
        fmt::format("--resume '{}' was measured on another machine, so its samples cannot be added "
                    "to; --rerun measures its cases anew",
                    options_.resume_path));
  }
}

void RunOutputs::add_peaks() {
  const auto cache = report::PeakCache::of_environment();
  if (!cache) return;
  for (const std::string& problem : report_builder_.add_peaks(*cache)) {
    progress_->note(problem + "\nits peaks are left out; parbench peaks measures them anew");
  }
}

void RunOutputs::checkpoint() {
  try {
    report_builder_.refresh(false);
    report_builder_.write();
  } catch (const std::exception& error) {
    if (!std::exchange(warned_, true)) progress_->note(error.what());
  }
}

bool RunOutputs::finish(bool complete) {
  progress_->finish();
  std::vector<std::string> failures;
  const auto attempt = [&](auto&& work) {
    try {
      work();
      return true;
    } catch (const std::exception& error) {
      failures.emplace_back(error.what());
      return false;
    }
  };
  attempt([&] { report_builder_.refresh(complete); });
  bool written = attempt([&] { report_builder_.write(); });
  // A process that is part of another run has its report in the folder for temporary files.
  if (!written && !options_.process && attempt([&] { report_builder_.write_elsewhere(); })) {
    written = true;
    failures.back() += "\nthe report is in " + report_builder_.path().string();
  }
  attempt([&] { write_benchmark_out(); });
  const bool traced = attempt([&] { trace_.write(); });
  const std::string path = report_builder_.path().string();
  const bool shown = options_.process || attempt([&] {
                       show();
                       if (written) print_beside_rows(report_line(path));
                       if (traced) print_beside_rows(trace_.line());
                       require_printed();
                     });
  if (written && !shown) failures.back() += "\nwhat was measured is in " + path;
  for (const std::string& failure : failures) print_error(failure);
  return failures.empty();
}

void RunOutputs::print_beside_rows(const std::string& text) const {
  if (flags_.display_format.value_or(RowFormat::console) == RowFormat::console) {
    print(text);
  } else {
    fmt::print(stderr, "{}", text);
  }
}

void RunOutputs::show() const {
  print_beside_rows(report::to_table(report_builder_.report(), text_style(options_.width)));
  print_beside_rows(left_out_);
  if (!flags_.display_format) return;
  const RowStyle style{flags_.aggregates_only || flags_.display_aggregates_only,
                       flags_.color.value_or(text_style().color), flags_.counters_tabular};
  write_rows(std::cout, report_builder_.report().cases, *flags_.display_format, style);
}

void RunOutputs::write_benchmark_out() const {
  if (flags_.out_path.empty()) return;
  std::ostringstream text;
  write_rows(text, report_builder_.report().cases, flags_.out_format,
             {.aggregates_only = flags_.aggregates_only});
  report::write_file(flags_.out_path, text.str());
}

}  // namespace parbench
