#include "bench/run/job_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/execution/lost_backends.h"
#include "bench/output/progress.h"
#include "bench/output/standard_streams.h"
#include "bench/ranks/rank_session.h"
#include "bench/run/run_outputs.h"
#include "bench/sampling/session/session.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

/// Runs the jobs in order and updates the report.
class JobRun {
 public:
  JobRun(const RunEnvironment& run, JobPlan plan, ReportBuilder report_builder,
         std::vector<OwnProcess> own_processes)
      : run_(run),
        plan_(std::move(plan)),
        outputs_(run.options, run.flags, plan_, std::move(report_builder)),
        own_processes_(std::move(own_processes)) {}

  ExitCode operator()() {
    outputs_.report_builder().refresh(false);
    outputs_.report_builder().write();
    for (std::size_t i = 0; i < plan_.jobs.size() && !outcome_.interrupted; ++i) {
      try {
        run_session_of(i);
      } catch (const TimedOut& error) {  // between two sessions
        abandon(error, [] {});
      }
    }
    return outputs_.finish(outcome_);
  }

 private:
  void run_session_of(std::size_t index) {
    Job& job = plan_.jobs[index];
    Context context = job.open(run_.options, run_.team);
    SessionEnvironment environment{
        .progress = outputs_.progress(),
        .lost = lost_,
        .part = {.index = index, .count = plan_.jobs.size()},
        .make_runner = make_plan_runner,
        .profile = [this](bool on) { profile(on); },
        .on_timeline = timeline_sink(),
        .own_processes = own_processes_,
        .resumed = run_.options.resumed ? &run_.options.resumed->cases : nullptr,
        .interrupted = InterruptHandler::requested,
        .checkpoint =
            [&](const SessionResult& known) {
              outputs_.report_builder().update(*job.scenario, known);
              outputs_.checkpoint();
            },
        .on_timeout =
            [&](const SessionResult& known, const TimedOut& error) {
              abandon(error, [&] { outputs_.report_builder().update(*job.scenario, known); });
            },
        .now = {}};
    SamplerOptions sampling = sampler_options_of(job, plan_.jobs, run_.options, run_.flags);
    sampling.total_seconds = run_.limit.share(plan_.jobs.size() - index);
    if (run_.team != nullptr) {
      sampling.total_seconds = run_.team->broadcast(sampling.total_seconds);
      spread_over(*run_.team, environment);
    }
    const SessionResult result =
        run_session(*job.scenario, context, job.cases, sampling, std::move(environment));
    outputs_.report_builder().update(*job.scenario, result);
    outcome_.add(result);
    outcome_.interrupted = result.interrupted;
  }

  KeepTimeline timeline_sink() {
    if (!run_.options.has_profiling_pass()) return {};
    return [this](const report::CaseResult& one, const Timeline& timeline) {
      outputs_.trace().add(one, timeline);
    };
  }

  void profile(bool on) const {
    if (!run_.options.for_profiler) return;
    for (const auto& backend : run_.machine.backends()) {
      if (!lost_.contains(backend->name())) backend->profile(on);
    }
  }

  /// Writes the report, elsewhere if its own path fails. Returns a text with its path, or with the
  /// error.
  std::string save(const std::function<void()>& update) {
    ReportBuilder& report_builder = outputs_.report_builder();
    try {
      update();
      if (!outputs_.checkpoint() && !run_.options.process) report_builder.write_elsewhere();
      return "what was measured is in " + report_builder.path().string();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  /// Ends a run whose device or rank does not respond, with the results so far, which `update` adds
  /// to the report. Streams still use memory of this process, so it exits without releasing any and
  /// without unwinding, whatever fails here.
  [[noreturn]] void abandon(const TimedOut& error, const std::function<void()>& update) noexcept {
    try {
      const std::string saved_to = save(update);
      outputs_.progress().finish();
      print_error(fmt::format("{}\n{}", error.what(), saved_to));
      outputs_.trace().write();  // before standard output, which may fail
      if (!run_.options.process) outputs_.show_measured();
    } catch (const std::exception& other) {
      print_error(other.what());
    }
    if (run_.team != nullptr) run_.team->stop_others();
    std::fflush(nullptr);
    _exit(static_cast<int>(ExitCode::case_failed));
  }

  const RunEnvironment& run_;
  JobPlan plan_;
  InterruptHandler interrupt_;
  RunOutputs outputs_;
  std::vector<OwnProcess> own_processes_;
  LostBackends lost_;
  RunOutcome outcome_;
};

}  // namespace

ExitCode run_jobs(const RunEnvironment& run, JobPlan plan, ReportBuilder report_builder,
                  std::vector<OwnProcess> own_processes) {
  return JobRun(run, std::move(plan), std::move(report_builder), std::move(own_processes))();
}

void follow_jobs(RankTeam& team, const RunOptions& options, const BenchmarkFlags& flags,
                 std::vector<Job>& jobs) {
  const InterruptHandler interrupt(InterruptHandler::Says::nothing);
  const auto progress = make_progress(std::cerr, standard_error_options(true));
  LostBackends lost;
  for (std::size_t index = 0; index < jobs.size(); ++index) {
    Job& job = jobs[index];
    Context context = job.open(options, &team);
    SessionEnvironment environment =
        following_environment(team, *progress, lost, options.has_profiling_pass());
    environment.part = {.index = index, .count = jobs.size()};
    if (options.resumed) environment.resumed = &options.resumed->cases;
    SamplerOptions sampling = sampler_options_of(job, jobs, options, flags);
    sampling.total_seconds = team.broadcast(0);
    const SessionResult result =
        run_session(*job.scenario, context, job.cases, sampling, std::move(environment));
    if (result.interrupted) break;
  }
}

}  // namespace parbench
