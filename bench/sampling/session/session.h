// Runs the cases of one scenario: prepare, verify, warm up, bound, sample, compare, answer.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "bench/execution/lost_backends.h"
#include "bench/execution/plan_runner.h"
#include "bench/output/progress.h"
#include "bench/sampling/conditions/own_processes.h"
#include "bench/sampling/profiling_pass.h"
#include "bench/sampling/sampler.h"
#include "bench/sampling/session/session_time.h"
#include "kernels/base/error.h"
#include "reports/model/report.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// The result of a session; also passed to checkpoints while it runs.
struct SessionResult {
  std::vector<report::CaseResult> cases;  // in the order of the specs
  std::optional<report::Answer> answer;
  PhaseTimes times;
  bool interrupted = false;

  /// Returns whether every case was sampled to the end, or left out because the run had no time or
  /// another case has the same work.
  [[nodiscard]] bool all_measured() const {
    return !interrupted && std::ranges::all_of(cases, [](const report::CaseResult& one) {
      const bool ended = is_measured(one) && one.stopped_because != "unfinished";
      return ended || report::is_left_out(one);
    });
  }
  [[nodiscard]] bool any_measured() const { return std::ranges::any_of(cases, is_measured); }

 private:
  static bool is_measured(const report::CaseResult& one) {
    return one.status == report::CaseStatus::measured;
  }
};

/// Objects that a session uses. All references must outlive it.
struct SessionEnvironment {
  Progress& progress;
  /// Backends that earlier sessions have lost; this session adds to them. Cases that need a device
  /// of a lost backend are not run and get the reason.
  LostBackends& lost;
  RunPart part = {};
  MakePlanRunner make_runner = make_plan_runner;
  /// Called with true before the first sample and with false after the last, also after failures.
  std::function<void(bool)> profile = [](bool) {};
  /// Called with each profiled case and its timeline. Empty: no case is profiled.
  KeepTimeline on_timeline = {};
  /// Folder with proc and sys, for the limits of this process.
  std::filesystem::path system_root = "/";
  /// The run's other processes, whose use of cores counts as the run's own.
  std::vector<OwnProcess> own_processes = {};
  /// Cases of an earlier part of the run, whose samples are continued; null if there is none.
  const std::vector<report::CaseResult>* resumed = nullptr;
  std::function<bool()> interrupted = [] { return false; };
  /// Runs some work of one case, at the same time on all ranks if there are several.
  std::function<void(const std::function<void()>&)> together =
      [](const std::function<void()>& work) { work(); };
  /// Called with the results so far, about every 2 s between preparations and every 5 s between
  /// samples (CheckpointTimes), so that a killed run leaves a report.
  std::function<void(const SessionResult&)> checkpoint = [](const SessionResult&) {};
  /// Called with the results so far when a wait has exceeded its limit. A stream still uses memory
  /// of this process, so the callee should end the process without unwinding; if it returns, the
  /// exception is rethrown.
  std::function<void(const SessionResult&, const TimedOut&)> on_timeout = [](const SessionResult&,
                                                                             const TimedOut&) {};
  std::function<double()> now;  // seconds, monotonic; empty: the steady clock
  /// Clock for decisions, which is the same on all ranks; empty: `now`. With several ranks, it
  /// shows the time of their latest meeting, so work between two meetings counts at the second one.
  std::function<double()> common_now = {};
};

/// Runs a session. A case that fails is reported as failed (an exception, a wrong result) or
/// skipped (Unsupported, out of memory), with the reason and without a time; the other cases
/// continue. After DeviceLost, cases that need the lost backend do not run. TimedOut ends the
/// session.
[[nodiscard]] SessionResult run_session(const Scenario& scenario, Context& context,
                                        const std::vector<CaseSpec>& specs,
                                        const SamplerOptions& options,
                                        SessionEnvironment environment);

}  // namespace parbench
