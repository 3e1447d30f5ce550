// A session in progress and the state of its cases.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/execution/ranges.h"
#include "bench/sampling/conditions/conditions.h"
#include "bench/sampling/cost_rounds.h"
#include "bench/sampling/described.h"
#include "bench/sampling/earlier_part.h"
#include "bench/sampling/equal_cases.h"
#include "bench/sampling/preparation.h"
#include "bench/sampling/profiling_pass.h"
#include "bench/sampling/results.h"
#include "bench/sampling/session/session.h"
#include "bench/sampling/session/session_progress.h"

namespace parbench {

/// A session in progress. The arguments must outlive it. Used by `run_session` only.
class Session {
 public:
  Session(const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
          const SamplerOptions& options, SessionEnvironment environment);

  SessionResult run();

 private:
  /// State of one spec, beside its entry in the report.
  struct Entry {
    RangeName range;
    std::optional<PreparedCase> prepared = {};  // while it can still be sampled
    CostRounds cost_rounds = {};
    std::optional<std::size_t> sampler_index = {};
  };
  /// Ranges of the work on a case, inside its own range.
  struct Ranges {
    RangeName prepare{"prepare"};
    RangeName task_costs{"task-costs"};
    RangeName warm_up{"warm-up"};
    RangeName sample{"sample"};  // payload: the round
  };

  void prepare_all();
  void prepare_if_possible(std::size_t index, Preparation& preparation);
  void prepare(std::size_t index, Preparation& preparation);
  void measure_tasks(std::size_t index);

  [[nodiscard]] bool is_lone(std::size_t index) const;
  void leave_out_lone_cases();
  void make_sampler();
  void sample_all();
  void take(const Measurement& measurement);
  report::Sample execute(Entry& entry, const Measurement& measurement);

  void profile_all();
  void profile(std::size_t index);

  void abandon(std::size_t index, const TimedOut& error);
  void lose_device(std::size_t index, const DeviceLost& error);
  void leave_out_lost();
  void leave_out(std::size_t index, const std::string& reason);
  void leave_out_of_time(std::size_t index);
  void leave_out_as_equal(std::size_t index, std::size_t other);
  [[nodiscard]] std::optional<std::size_t> equal_case(std::size_t index) const;
  void give_up(std::size_t index, report::CaseStatus status, const std::string& reason);
  void drop(std::size_t index);
  template <typename Work>
  bool guarded(std::size_t index, Work&& work);

  [[nodiscard]] bool has_time_for_tasks(const Entry& entry, double execution) const;

  void checkpoint(double period);
  [[nodiscard]] SessionResult result() const;
  [[nodiscard]] SessionResult answered() const;
  void add_samples(std::size_t index, report::CaseResult& result) const;

  const Scenario& scenario_;
  Context& context_;
  const std::vector<CaseSpec>& specs_;
  const SamplerOptions options_;
  SessionEnvironment environment_;
  std::vector<report::CaseResult> cases_;
  std::vector<Entry> entries_;
  std::vector<Comparisons> comparisons_;  // by spec
  EqualCases equal_cases_;
  EarlierPart earlier_;
  Ranges ranges_;
  std::optional<Sampler> sampler_;
  ProfilingPass profiling_{environment_.on_timeline, environment_.interrupted};
  ConditionWatch watch_{[this] { return environment_.now(); }, environment_.system_root,
                        environment_.own_processes};
  std::vector<std::size_t> sampled_;   // spec index of each of the sampler's cases
  std::optional<std::size_t> latest_;  // case whose data is in the shared memory
  std::optional<PreparedCase> abandoned_;
  PhaseTimes times_;
  std::optional<SessionTime> time_;
  std::optional<SessionProgress> progress_;
  CheckpointTimes checkpoint_times_{[this] { return environment_.common_now(); }};
  bool interrupted_ = false;
};

}  // namespace parbench
