// Command line, devices, sweep, sessions, report: one after the other.
#include "bench/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/benchmark_flags.h"
#include "bench/cli.h"
#include "bench/estimate.h"
#include "bench/flag_files.h"
#include "bench/google_benchmark.h"
#include "bench/interrupt.h"
#include "bench/listing.h"
#include "bench/lost_backends.h"
#include "bench/progress.h"
#include "bench/recorder.h"
#include "bench/report_commands.h"
#include "bench/sampler_options.h"
#include "bench/session.h"
#include "bench/standard_streams.h"
#include "bench/sweep.h"
#include "bench/version.h"
#include "kernels/error.h"
#include "kernels/machine.h"
#include "reports/file.h"
#include "reports/table.h"

namespace parbench {
namespace {

/// One scenario of a run, ready to start.
struct Job {
  const Scenario* scenario = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<CaseSpec> cases;
  std::vector<std::string> left_out;  // strategies without a case

  [[nodiscard]] Context open(const Options& options) {
    return {std::move(devices), Context::Options{options.seed, !options.dry_run}};
  }
};

/// What a scenario opens without `--devices`: fewer where the machine has not so many.
std::string usual_devices(const Scenario& scenario, const Machine& machine) {
  const int limit = machine.backends().front()->device_limit();
  return std::to_string(std::max(1, std::min(scenario.default_devices(), limit)));
}

/// Refuses a flag that no device of the run could follow. Where only some cannot, their cases say
/// so.
void check_abilities(const Options& options, const std::vector<std::unique_ptr<Device>>& devices,
                     const Machine& machine) {
  const auto none = [&](bool (Backend::*can)() const) {
    return std::ranges::none_of(devices, [&](const auto& device) {
      return (machine.find(device->info().backend)->*can)();
    });
  };
  if (options.autotune && none(&Backend::can_autotune)) {
    throw UsageError(
        "--autotune: no device of the run chooses kernels by measuring; oneDNN's own choice is the "
        "only one on cpu devices: leave it out (--autotune=false with --rerun), or give --devices "
        "cuda:0");
  }
  if (options.format.math == MathMode::tf32 && none(&Backend::has_tf32)) {
    throw UsageError(
        "--dtype tf32: no device of the run has TF32, the arithmetic of NVIDIA's tensor cores: use "
        "--dtype f32, or give --devices cuda:0");
  }
}

/// A dry run opens devices that do not measure.
std::vector<std::unique_ptr<Device>> open_devices(const Options& options, const Scenario& scenario,
                                                  const Machine& machine) {
  auto devices =
      machine.open(options.devices.empty() ? usual_devices(scenario, machine) : options.devices,
                   {.spare_for_copies = scenario.wants_copy_core(),
                    .autotune = options.autotune && !options.dry_run});
  check_abilities(options, devices, machine);
  return devices;
}

std::vector<Job> plan_jobs(const Options& options, const BenchmarkFlags& flags,
                           const ScenarioList& scenarios, const Machine& machine) {
  check_selection(options, scenarios);
  std::vector<Job> jobs;
  for (const Scenario* scenario : chosen_scenarios(options, scenarios)) {
    Job job{scenario, open_devices(options, *scenario, machine), {}, {}};
    job.cases = expand(options, *scenario, set_of(job.devices));
    job.left_out = strategies_left_out(options, *scenario, job.cases);
    std::erase_if(job.cases, [&](const CaseSpec& spec) { return !selects(flags, spec.name()); });
    if (!job.cases.empty()) jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    throw UsageError(
        flags.filter.empty()
            ? std::string("no case is left: the chosen strategies and values allow none")
            : fmt::format("--benchmark_filter='{}' matches no case\n--benchmark_list_tests shows "
                          "their names",
                          flags.filter));
  }
  return jobs;
}

void list_cases(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    for (const CaseSpec& spec : job.cases) print(spec.name() + "\n");
  }
}

/// A line about the strategies that take no part in a job; empty where all do.
std::string left_out_text(const Job& job) {
  if (job.left_out.empty()) return {};
  return fmt::format("{}: without {} (--strategy {} says why)\n", job.scenario->name(),
                     fmt::join(job.left_out, ", "), job.left_out.front());
}

void dry_run(const Options& options, const BenchmarkFlags& flags, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    Context context = job.open(options);
    const RunEstimate run =
        estimate(*job.scenario, context, job.cases, sampler_options(options, flags, *job.scenario));
    print(estimate_text(*job.scenario, context, run) + left_out_text(job));
  }
}

/// Runs the jobs one after the other and keeps the report up to date.
class Run {
 public:
  Run(const Options& options, const BenchmarkFlags& flags, const Machine& machine,
      std::vector<Job> jobs, Recorder recorder)
      : options_(options),
        machine_(machine),
        flags_(flags),
        jobs_(std::move(jobs)),
        progress_(
            make_progress(std::cerr, standard_error_options(options.quiet || options.profile))),
        recorder_(std::move(recorder)) {
    for (const Job& job : jobs_) {
      recorder_.plan(*job.scenario, job.cases, sampler_options(options, flags, *job.scenario));
      recorder_.add_devices(*job.scenario, job.devices);
    }
  }

  ExitCode operator()() {
    recorder_.write(samples_);
    for (std::size_t i = 0; i < jobs_.size() && !interrupted_; ++i) run(i);
    progress_->finish();
    const bool delivered = deliver();
    if (interrupted_) return ExitCode::interrupted;
    return all_measured_ && delivered ? ExitCode::measured : ExitCode::case_failed;
  }

 private:
  void run(std::size_t index) {
    Job& job = jobs_[index];
    Context context = job.open(options_);
    SessionEnvironment environment{
        .google_benchmark = samples_,
        .progress = *progress_,
        .lost = lost_,
        .part = {.index = index, .count = jobs_.size()},
        .make_runner = make_plan_runner,
        .profile = [this](bool on) { profile(on); },
        .interrupted = InterruptHandler::requested,
        .checkpoint =
            [&](const SessionResult& known) {
              recorder_.update(*job.scenario, known);
              checkpoint();
            },
        .on_timeout = [&](const SessionResult& known,
                          const TimedOut& error) { abandon(*job.scenario, known, error); },
        .now = {}};
    const SessionResult result =
        run_session(*job.scenario, context, job.cases,
                    sampler_options(options_, flags_, *job.scenario), std::move(environment));
    recorder_.update(*job.scenario, result);
    interrupted_ = result.interrupted;
    all_measured_ = all_measured_ && result.all_measured();
  }

  void profile(bool on) const {
    if (!options_.profile) return;
    for (const auto& backend : machine_.backends()) {
      if (!lost_.contains(backend->name())) backend->profile(on);
    }
  }

  /// Brings the results to where they belong, files before the terminal, which may be gone. What
  /// fails takes nothing else with it and is told at the end. Returns whether nothing failed.
  bool deliver() {
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
    recorder_.refresh(all_measured_ && !interrupted_);
    const bool written = attempt([&] { recorder_.write(samples_); });
    attempt([&] { write_benchmark_out(); });
    const std::string path = recorder_.path().string();
    const bool shown = attempt([&] {
      show();
      if (written) tell(report_line(path));
      require_printed();
    });
    if (written && !shown) failures.back() += "\nwhat was measured is in " + path;
    for (const std::string& failure : failures) print_error(failure);
    return failures.empty();
  }

  /// Streams still work on memory of this process, so it ends without giving any of it back.
  [[noreturn]] void abandon(const Scenario& scenario, const SessionResult& known,
                            const TimedOut& error) {
    recorder_.update(scenario, known);
    checkpoint();
    progress_->finish();
    print_error(
        fmt::format("{}\nwhat was measured is in {}", error.what(), recorder_.path().string()));
    std::fflush(nullptr);
    _exit(static_cast<int>(ExitCode::case_failed));
  }

  /// A disk that is full now may not be at the end: the samples are worth more than this write.
  void checkpoint() {
    try {
      recorder_.refresh(false);
      recorder_.write(samples_);
    } catch (const Error& error) {
      if (!std::exchange(warned_, true)) progress_->note(error.what());
    }
  }

  /// Rows for a program have standard output to themselves.
  void tell(const std::string& text) const {
    if (flags_.display_format.value_or(RowFormat::console) == RowFormat::console) {
      print(text);
    } else {
      fmt::print(stderr, "{}", text);
    }
  }

  void show() const {
    tell(report::to_table(recorder_.report(), text_style()));
    for (const Job& job : jobs_) tell(left_out_text(job));
    if (!flags_.display_format) return;
    const RowStyle style{flags_.aggregates_only || flags_.display_aggregates_only,
                         flags_.color.value_or(text_style().color), flags_.counters_tabular};
    samples_.write(std::cout, *flags_.display_format, style);
  }

  void write_benchmark_out() const {
    if (flags_.out_path.empty()) return;
    std::ostringstream text;
    samples_.write(text, flags_.out_format, {.aggregates_only = flags_.aggregates_only});
    report::write_file(flags_.out_path, text.str());
  }

  const Options& options_;
  const Machine& machine_;
  const BenchmarkFlags& flags_;
  std::vector<Job> jobs_;
  InterruptHandler interrupt_;
  GoogleBenchmark samples_;
  std::unique_ptr<Progress> progress_;
  Recorder recorder_;
  LostBackends lost_;
  bool interrupted_ = false;
  bool all_measured_ = true;
  bool warned_ = false;  // of a checkpoint that could not be written
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
  const auto started = std::chrono::system_clock::now();
  Recorder recorder(provide_report_path(options, scenarios.size(), started), options, machine,
                    flags, started);
  return Run(options, flags, machine, std::move(jobs), std::move(recorder))();
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
    case Command::show:
      show_report(options);
      return ExitCode::measured;
    case Command::export_report:
      export_report(options);
      return ExitCode::measured;
    case Command::html:
      write_page(options);
      return ExitCode::measured;
    case Command::compare:
      return compare_reports(options);
    case Command::run:
      return run(options, scenarios, Machine());
  }
  return ExitCode::bad_usage;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const ScenarioList& scenarios) {
  prepare_standard_streams();
  ExitCode code = ExitCode::case_failed;
  try {
    code = dispatch(arguments, scenarios);
    require_printed();
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
