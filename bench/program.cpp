// Command line, devices, sweep, sessions, report: one after the other.
#include "bench/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include "bench/ab.h"
#include "bench/benchmark_flags.h"
#include "bench/child_process.h"
#include "bench/cli.h"
#include "bench/delivery.h"
#include "bench/estimate.h"
#include "bench/flag_files.h"
#include "bench/interrupt.h"
#include "bench/jobs.h"
#include "bench/launched_run.h"
#include "bench/listing.h"
#include "bench/lost_backends.h"
#include "bench/peaks_command.h"
#include "bench/report_builder.h"
#include "bench/report_commands.h"
#include "bench/sampler_options.h"
#include "bench/session.h"
#include "bench/standard_streams.h"
#include "bench/version.h"
#include "kernels/error.h"
#include "kernels/machine.h"
#include "reports/io/file.h"

namespace parbench {
namespace {

/// Whether a run looks at each case once more; a profiler does so itself.
bool looks(const Options& options) { return !options.profile && !options.no_profile; }

void list_cases(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    for (const CaseSpec& spec : job.cases) print(spec.name() + "\n");
  }
}

void dry_run(const Options& options, const BenchmarkFlags& flags, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    Context context = job.open(options);
    const RunEstimate run =
        estimate(*job.scenario, context, job.cases, sampler_options(options, flags, *job.scenario),
                 options.launches, looks(options));
    print(estimate_text(*job.scenario, context, run) + left_out_text(job));
  }
}

/// Runs the jobs one after the other and keeps the report up to date.
class Run {
 public:
  Run(const Options& options, const BenchmarkFlags& flags, const Machine& machine,
      std::vector<Job> jobs, ReportBuilder report_builder)
      : options_(options),
        machine_(machine),
        flags_(flags),
        jobs_(std::move(jobs)),
        delivery_(options, flags, jobs_, std::move(report_builder)) {}

  ExitCode operator()() {
    delivery_.report_builder().write();
    for (std::size_t i = 0; i < jobs_.size() && !interrupted_; ++i) run(i);
    const bool delivered = delivery_.finish(all_measured_ && !interrupted_);
    if (interrupted_) return ExitCode::interrupted;
    return all_measured_ && delivered ? ExitCode::measured : ExitCode::case_failed;
  }

 private:
  void run(std::size_t index) {
    Job& job = jobs_[index];
    Context context = job.open(options_);
    SessionEnvironment environment{
        .progress = delivery_.progress(),
        .lost = lost_,
        .part = {.index = index, .count = jobs_.size()},
        .make_runner = make_plan_runner,
        .profile = [this](bool on) { profile(on); },
        .on_timeline = keeper_of_timelines(),
        .interrupted = InterruptHandler::requested,
        .checkpoint =
            [&](const SessionResult& known) {
              delivery_.report_builder().update(*job.scenario, known);
              delivery_.checkpoint();
            },
        .on_timeout = [&](const SessionResult& known,
                          const TimedOut& error) { abandon(*job.scenario, known, error); },
        .now = {}};
    const SessionResult result =
        run_session(*job.scenario, context, job.cases,
                    sampler_options(options_, flags_, *job.scenario), std::move(environment));
    delivery_.report_builder().update(*job.scenario, result);
    interrupted_ = result.interrupted;
    all_measured_ = all_measured_ && result.all_measured();
  }

  KeepTimeline keeper_of_timelines() {
    if (!looks(options_)) return {};
    return [this](const report::CaseResult& one, const Timeline& timeline) {
      delivery_.trace().add(one, timeline);
    };
  }

  void profile(bool on) const {
    if (!options_.profile) return;
    for (const auto& backend : machine_.backends()) {
      if (!lost_.contains(backend->name())) backend->profile(on);
    }
  }

  /// Streams still work on memory of this process, so it ends without giving any of it back:
  /// whatever fails here, nothing unwinds.
  [[noreturn]] void abandon(const Scenario& scenario, const SessionResult& known,
                            const TimedOut& error) noexcept {
    try {
      delivery_.report_builder().update(scenario, known);
      delivery_.checkpoint();
      delivery_.progress().finish();
      print_error(fmt::format("{}\nwhat was measured is in {}", error.what(),
                              delivery_.report_builder().path().string()));
      delivery_.trace().write();
    } catch (const std::exception& other) {
      print_error(other.what());
    }
    std::fflush(nullptr);
    _exit(static_cast<int>(ExitCode::case_failed));
  }

  const Options& options_;
  const Machine& machine_;
  const BenchmarkFlags& flags_;
  std::vector<Job> jobs_;
  InterruptHandler interrupt_;
  Delivery delivery_;
  LostBackends lost_;
  bool interrupted_ = false;
  bool all_measured_ = true;
};

ExitCode run(const Options& options, const ScenarioList& scenarios, const Machine& machine) {
  const BenchmarkFlags flags = initialize_google_benchmark(options.benchmark_flags);
  check_files_differ(options, flags.out_path);
  std::vector<Job> jobs = plan_jobs(options, flags, scenarios, machine);
  if (options.profile && jobs.size() > 1) {
    throw UsageError(fmt::format(
        "--profile: takes one scenario, not {}: a profiler's capture begins and ends once",
        jobs.size()));
  }
  if (flags.list_tests) {
    list_cases(jobs);
    return ExitCode::measured;
  }
  if (options.dry_run) {
    dry_run(options, flags, jobs);
    return ExitCode::measured;
  }
  if (!flags.out_path.empty()) {
    naming_flag("--benchmark_out=", [&] { report::check_writable(flags.out_path); });
  }
  if (!options.trace_path.empty()) {
    naming_flag("--trace ", [&] { report::check_writable(options.trace_path); });
  }
  const auto started = std::chrono::system_clock::now();
  ReportBuilder report_builder(provide_report_path(options, scenarios.size(), started), options,
                               machine, flags, started);
  if (options.launch) end_with_parent();
  if (options.launches > 1 && !options.launch) {
    return run_launches(options, flags, std::move(jobs), std::move(report_builder));
  }
  return Run(options, flags, machine, std::move(jobs), std::move(report_builder))();
}

ExitCode dispatch(const std::vector<std::string>& arguments, const ScenarioList& scenarios) {
  const Options options = parse_command_line(arguments, scenarios);
  switch (options.command) {
    case Command::help:
      print(help_text(scenarios, options.help_topic));
      return ExitCode::measured;
    case Command::version:
      print(fmt::format("parbench {}\n", version));
      return ExitCode::measured;
    case Command::list:
      print(scenario_listing(scenarios));
      return ExitCode::measured;
    case Command::devices:
      print(device_listing(Machine()));
      return ExitCode::measured;
    case Command::peaks:
      show_peaks(options, scenarios);
      return ExitCode::measured;
    case Command::show:
      show_report(options);
      return ExitCode::measured;
    case Command::export_report:
      export_report(options);
      return ExitCode::measured;
    case Command::html:
      write_page(options);
      return ExitCode::measured;
    case Command::dashboard:
      return write_dashboard(options) ? ExitCode::measured : ExitCode::case_failed;
    case Command::compare:
      return compare_reports(options);
    case Command::ab:
      return run_ab(options);
    case Command::run:
      return run(options, scenarios, Machine());
  }
  return ExitCode::bad_usage;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const ScenarioList& scenarios) {
  prepare_standard_streams();
  await_children();
  ExitCode code = ExitCode::case_failed;
  try {
    code = dispatch(arguments, scenarios);
    require_printed();
  } catch (const ReaderGone&) {
    // Who piped this into `head` has all that was wanted. A run that was measured has told the
    // loss.
  } catch (const UsageError& error) {
    print_error(error.what());
    code = ExitCode::bad_usage;
  } catch (const std::exception& error) {
    print_error(error.what());
    code = ExitCode::case_failed;
  }
  return static_cast<int>(code);
}

}  // namespace parbench
