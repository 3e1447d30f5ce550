// Writes files first, then to the terminal.
#include "bench/run/run_outputs.h"

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <sstream>
#include <utility>

#include "bench/cli/output.h"
#include "bench/execution/interrupt.h"
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

/// Returns the first difference between named texts such as library versions; empty if none.
std::string difference_of_texts(const report::NamedTexts& before, const report::NamedTexts& now) {
  const auto find = [](const report::NamedTexts& texts, const std::string& name) {
    const std::string* found = report::find_value(texts, name);
    return found == nullptr ? std::string("none") : *found;
  };
  for (const report::NamedTexts* texts : {&before, &now}) {
    for (const auto& [name, text] : *texts) {
      const std::string one = find(before, name);
      const std::string other = find(now, name);
      if (one != other) return report::difference_text(name, one, other);
    }
  }
  return {};
}

std::string commit_text(const report::Machine& machine) {
  if (!machine.commit) return "unknown";
  return *machine.commit + (machine.dirty.value_or(false) ? " with changes" : "");
}

/// Returns the first difference between the programs that measured two reports; empty if none.
std::string difference_of_programs(const report::Report& before, const report::Report& now) {
  const report::NamedTexts one{{"parbench", before.version},
                               {"commit", commit_text(before.machine)},
                               {"compiler", before.machine.compiler},
                               {"build", before.machine.build_type}};
  const report::NamedTexts other{{"parbench", now.version},
                                 {"commit", commit_text(now.machine)},
                                 {"compiler", now.machine.compiler},
                                 {"build", now.machine.build_type}};
  std::string different = difference_of_texts(one, other);
  if (different.empty()) {
    different = difference_of_texts(before.machine.libraries, now.machine.libraries);
  }
  if (different.empty()) {
    different = difference_of_texts(before.machine.environment, now.machine.environment);
  }
  return different;
}

}  // namespace

RunOutputs::RunOutputs(const RunOptions& options, const BenchmarkFlags& flags, const JobPlan& plan,
                       ReportBuilder report_builder)
    : options_(options),
      flags_(flags),
      left_out_(left_out_text(plan, text_style(options.width).width)),
      progress_(progress_of(options)),
      report_builder_(std::move(report_builder)),
      trace_(options.trace_path, options.trace_cases) {
  for (const Job& job : plan.jobs) {
    report_builder_.plan(*job.scenario, job.cases,
                         sampler_options_of(job, plan.jobs, options, flags));
    report_builder_.add_devices(*job.scenario, job.devices, job.whole.get());
  }
  if (options.resumed) require_same_conditions();
  if (!options.process) add_peaks();
}

void RunOutputs::require_same_conditions() const {
  const report::Report& before = *options_.resumed;
  const report::Report& now = report_builder_.report();
  std::string different = difference_of_programs(before, now);
  for (const report::Sampling& one : now.sampling) {
    if (!different.empty()) break;
    different = report::difference(report::fingerprint(before, one.scenario),
                                   report::fingerprint(now, one.scenario));
  }
  if (different.empty()) return;
  throw UsageError(
      fmt::format("--resume '{}' was measured under other conditions ({}), so its samples cannot "
                  "be added to; --rerun measures its cases again",
                  options_.resume_path, different));
}

void RunOutputs::add_peaks() {
  const auto cache = report::PeakCache::of_environment();
  if (!cache) return;
  for (const std::string& problem : report_builder_.add_peaks(*cache)) {
    progress_->note(problem + "\nits peaks are left out; parbench peaks measures them again");
  }
}

bool RunOutputs::checkpoint() {
  try {
    report_builder_.refresh(false);
    report_builder_.write();
    return true;
  } catch (const std::exception& error) {
    if (!std::exchange(warned_, true)) progress_->note(error.what());
    return false;
  }
}

ExitCode RunOutputs::finish(const RunOutcome& outcome) {
  const bool complete = outcome.all_measured && outcome.any_measured && !outcome.interrupted;
  const bool delivered = deliver(complete);
  if (outcome.interrupted) return ExitCode{InterruptHandler::exit_code()};
  return complete && delivered ? ExitCode::measured : ExitCode::case_failed;
}

bool RunOutputs::deliver(bool complete) {
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
  // Processes of another run write to the folder for temporary files already.
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
                       if (written) print_next_command();
                       require_printed();
                     });
  if (written && !shown) failures.back() += "\nthe measured cases are in " + path;
  for (const std::string& failure : failures) print_error(failure);
  return failures.empty();
}

void RunOutputs::show_measured() {
  show();
  print_beside_rows(report_line(report_builder_.path().string()));
  require_printed();
}

void RunOutputs::print_next_command() const {
  const std::string program =
      options_.command_line.empty() ? "parbench" : options_.command_line.front();
  print_beside_rows(
      next_command_lines(report_builder_.report(), report_builder_.path().string(), program));
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
