// The default command: plans a run, and then measures, estimates or lists its cases.
#include "bench/commands/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <utility>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/flag_files.h"
#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/estimates/estimate.h"
#include "bench/execution/clock.h"
#include "bench/output/standard_streams.h"
#include "bench/ranks/rank_devices.h"
#include "bench/ranks/rank_processes.h"
#include "bench/ranks/rank_session.h"
#include "bench/run/job_run.h"
#include "bench/run/jobs.h"
#include "bench/run/process_run.h"
#include "bench/run/programs/child_process.h"
#include "bench/run/report_builder.h"
#include "bench/run/run_limit.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "reports/io/file.h"

namespace parbench {
namespace {

constexpr CommandText run_help{
    .name = default_command,
    .summary = "Measures the cases of scenarios",
    .examples =
        "  parbench --scenario pipeline --split 1,3,5,12,20\n"
        "      Which split of the batch makes a two-device pipeline fastest?\n"
        "  parbench --scenario branch --image 8,32,128 --strategy one-stream,streams\n"
        "      Below which layer size do parallel branches pay?\n"
        "  parbench --scenario all --dry-run\n"
        "      What would be measured, in how much memory and time?\n"
        "  parbench html reports/runs/before.json reports/runs/after.json -o page.html\n"
        "      What they found, as a page with charts to open in a browser.\n"
        "  parbench --rerun reports/runs/before.json --report after.json\n"
        "      The same cases again, after a change.\n"
        "  parbench compare reports/runs/before.json after.json\n"
        "      What became slower or faster, beyond chance?\n",
    .exit_codes =
        "0 every case was measured or left out for lack of time; 1 a case failed or was wrong; "
        "2 bad usage; 130 interrupted; 143 ended by SIGTERM. "
        "Commands exit 0 when they did what they were asked, whatever a report says of its cases; "
        "compare exits 3 when a case became slower (parbench compare --help)."};

void list_cases(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    for (const CaseSpec& spec : job.cases) print(spec.name() + "\n");
  }
}

/// Estimates the cases and prints the estimates. All ranks plan the cases, because a plan may need
/// values that only one rank can measure; rank 0 prints.
void dry_run(const RunOptions& options, const BenchmarkFlags& flags, JobPlan& plan,
             RankTeam* team) {
  const bool prints = team == nullptr || team->leads();
  const std::size_t width = text_style(options.width).width;
  const auto together = [team](const std::function<void()>& work) {
    if (team == nullptr) return work();
    team->together(work);
  };
  std::string explained;
  for (Job& job : plan.jobs) {
    Context context = job.open(options, team);
    SamplerOptions sampling = sampler_options_of(job, plan.jobs, options, flags);
    sampling.total_seconds /= static_cast<double>(plan.jobs.size());
    RunEstimate run = estimate(*job.scenario, context, job.cases, sampling, options.processes,
                               options.has_profiling_pass(), together);
    if (run.made_of == explained) {
      run.made_of.clear();  // the same as for an earlier job
    } else {
      explained = run.made_of;
    }
    if (prints) print(estimate_text(*job.scenario, context, run, width));
  }
  if (prints) print(left_out_text(plan, width));
}

/// Executes the work of ranks other than 0. Returns when rank 0 has ended the run.
void follow_run(RankTeam& team, const RunOptions& options, const BenchmarkFlags& flags,
                JobPlan& plan) {
  try {
    if (options.dry_run) {
      dry_run(options, flags, plan, &team);
    } else if (!flags.list_tests) {
      follow_jobs(team, options, flags, plan.jobs);
    }
  } catch (const RunEnded&) {
    return;
  } catch (const std::exception& error) {  // on this rank only
    team.give_up(error.what());
  }
  team.wait_for_end();
}

/// Throws UsageError for --trace-case without --trace, or with a text that is in no case's name.
void check_traced_cases(const RunOptions& options, const std::vector<Job>& jobs) {
  if (!options.trace_cases.empty() && options.trace_path.empty()) {
    throw UsageError("--trace-case chooses cases of a trace; add --trace FILE.json");
  }
  for (const std::string& text : options.trace_cases) {
    const auto is_chosen = [&](const CaseSpec& spec) {
      return spec.name().find(text) != std::string::npos;
    };
    if (std::ranges::any_of(
            jobs, [&](const Job& job) { return std::ranges::any_of(job.cases, is_chosen); })) {
      continue;
    }
    throw UsageError(fmt::format(
        "--trace-case '{}' matches no case name; names are such as {}\n--dry-run shows all names",
        text, jobs.front().cases.front().name()));
  }
}

/// The plan of a run, made before anything is written.
struct PlannedRun {
  BenchmarkFlags flags;
  JobPlan plan;
  std::vector<std::string> differences;   // allowed differences between ranks
  std::vector<OwnProcess> own_processes;  // SessionEnvironment::own_processes
};

PlannedRun planned_run(const RunOptions& options, const Machine& machine, RankTeam* team) {
  PlannedRun planned;
  planned.flags = initialize_google_benchmark(options.benchmark_flags);
  check_files_differ(options, planned.flags.out_path);
  planned.own_processes = starting_processes();
  if (team != nullptr) {
    planned.differences = compare_ranks(*team, machine, options);
    std::ranges::copy(rank_processes(*team), std::back_inserter(planned.own_processes));
  }
  planned.plan = plan_jobs(options, planned.flags, machine, team);
  check_traced_cases(options, planned.plan.jobs);
  return planned;
}

/// Returns how messages transfer data that is not in host memory; empty if all devices use host
/// memory.
std::string message_path(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    for (const auto& device : job.devices) {
      const DeviceInfo& info = device->info();
      if (!info.host_memory) return info.staged ? "staged in host memory" : "sent by MPI";
    }
  }
  return {};
}

void describe_ranks(ReportBuilder& report_builder, RankTeam& team, const std::vector<Job>& jobs,
                    const std::vector<std::string>& differences) {
  report_builder.add_library("ranks", std::to_string(team.size()));
  report_builder.add_library("MPI", team.link().name());
  const std::string path = message_path(jobs);
  if (!path.empty()) report_builder.add_library("data of GPUs", path);
  for (const std::string& text : differences) {
    report_builder.add_library("difference of ranks", text);
  }
}

ExitCode run_cases(const RunOptions& options, const ScenarioList& scenarios, const Machine& machine,
                   double begin, RankTeam* team) {
  PlannedRun planned;
  const auto plan_run = [&] { planned = planned_run(options, machine, team); };
  if (team != nullptr) {
    team->together(plan_run);
  } else {
    plan_run();
  }
  const BenchmarkFlags& flags = planned.flags;
  JobPlan& plan = planned.plan;
  std::vector<Job>& jobs = plan.jobs;
  if (options.for_profiler && jobs.size() > 1) {
    throw UsageError(fmt::format(
        "--for-profiler takes one scenario, not {}: a profiler's capture begins and ends once",
        jobs.size()));
  }
  if (team != nullptr && !team->leads()) {
    follow_run(*team, options, flags, plan);
    return ExitCode::measured;
  }
  if (flags.list_tests) {
    list_cases(jobs);
    return ExitCode::measured;
  }
  if (options.dry_run) {
    dry_run(options, flags, plan, team);
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
                               machine, flags, started, begin);
  if (team != nullptr) describe_ranks(report_builder, *team, jobs, planned.differences);
  const RunLimit limit(sampler_options_of(jobs.front(), jobs, options, flags).total_seconds, begin);
  if (options.process) end_with_parent();
  const RunEnvironment run{options, flags, machine, limit, team};
  if (options.processes > 1 && !options.process) {
    return run_processes(run, std::move(plan), std::move(report_builder));
  }
  return run_jobs(run, std::move(plan), std::move(report_builder),
                  std::move(planned.own_processes));
}

}  // namespace

RunCommand::RunCommand(const Program& program) : Command(run_help), program_(program) {}

std::vector<FlagRow> RunCommand::flags() { return run_flags(options_, program_.scenarios); }

void RunCommand::read(const FlagTexts& texts, const std::vector<std::string>& benchmark_flags) {
  options_ = read_run_options(texts, benchmark_flags, program_.scenarios);
  options_.command_line = program_.arguments;
}

ExitCode RunCommand::run() {
  const double begin = steady_seconds();
  const std::unique_ptr<RankTeam> team = join_ranks();
  return run_cases(options_, program_.scenarios, Machine(), begin, team.get());
}

std::unique_ptr<Command> make_run(const Program& program) {
  return std::make_unique<RunCommand>(program);
}

}  // namespace parbench
