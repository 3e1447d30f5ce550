// Runs the cases of one scenario: prepare, verify, warm up, bound, sample, compare, answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark_flags.h"
#include "bench/google_benchmark.h"
#include "bench/options.h"
#include "bench/plan_runner.h"
#include "bench/progress.h"
#include "bench/sampler.h"
#include "kernels/error.h"
#include "reports/report.h"
#include "scenarios/context.h"
#include "scenarios/scenario.h"

namespace parbench {

/// What a session has come to; also handed to checkpoints while it runs.
struct SessionResult {
  std::vector<report::Case> cases;  // in the order of the specs
  std::optional<report::Answer> answer;
  /// Inside samples and their warm-up. Task costs that were measured by executing a whole plan in
  /// its order warm it up as well.
  double sampling_seconds = 0;
  double task_cost_seconds = 0;  // other measurements of tasks alone
  bool interrupted = false;

  /// Every case was measured to its end: exit code 0, and the report is complete.
  [[nodiscard]] bool all_measured() const;
};

/// How one scenario is sampled, from the command line, the --benchmark_* flags and the preset.
/// Without --max-time, a case gets 20 s and all cases of the scenario together 140 s, preparation
/// included, so that a default sweep ends within two to three minutes. The fixed numbers of the
/// seed preset and of --benchmark_repetitions are cut by --max-time only. --precision and
/// --min-samples make the seed preset adaptive, with 300 s for a case.
[[nodiscard]] SamplerOptions sampler_options(const Options& options, const BenchmarkFlags& flags,
                                             const Scenario& scenario);

/// What a session works with. All references outlive it.
struct SessionEnvironment {
  GoogleBenchmark& google_benchmark;
  Progress& progress;
  RunPart part = {};
  MakePlanRunner make_runner = make_plan_runner;
  std::function<bool()> interrupted = [] { return false; };
  /// Called with what is known so far, after preparation steps at most every 2 s and after rounds
  /// at most every 5 s, so that a run that is killed leaves what it had.
  std::function<void(const SessionResult&)> checkpoint = [](const SessionResult&) {};
  /// Called when a wait has passed its limit, with what is known. A stream still works on memory
  /// that this process owns, so it is to end the process without unwinding; when it returns, the
  /// exception goes on.
  std::function<void(const SessionResult&, const TimedOut&)> on_timeout = [](const SessionResult&,
                                                                             const TimedOut&) {};
  std::function<double()> now;  // seconds, monotonic; empty: the steady clock
};

/// A case that fails in any way takes no other with it: it is reported as failed (an exception, a
/// wrong result) or skipped (Unsupported, out of memory) with the reason and without a number. Only
/// TimedOut ends the session.
[[nodiscard]] SessionResult run_session(const Scenario& scenario, Context& context,
                                        const std::vector<CaseSpec>& specs,
                                        const SamplerOptions& options,
                                        SessionEnvironment environment);

}  // namespace parbench
