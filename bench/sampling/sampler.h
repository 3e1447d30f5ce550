// Decides which case is sampled next, with how many iterations, and when its sampling ends. Pure
// logic: it neither runs anything nor reads a clock.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/sampling/budget.h"
#include "reports/model/report.h"

namespace parbench {

struct SamplerOptions {
  double precision = 0.01;  // wanted half-width of the 95% interval / median
  int min_samples = 6;      // required to end by precision; time limits may end a case earlier

  /// Wall time limit of one case for samples and warm-up; `floor_samples` may exceed it.
  double max_seconds = 20;
  /// Wall time limit of the whole session: preparation, samples and everything else.
  double total_seconds = std::numeric_limits<double>::infinity();

  int fixed_samples = 0;     // 0: adaptive; otherwise the exact number, at any precision
  int fixed_iterations = 0;  // 0: as many as `min_sample_seconds` needs
  double min_sample_seconds = 0.02;
  bool for_profiler = false;  // few short samples, for an external profiler
  /// Whether cases with equal plans are all measured, for example for a published list of cases.
  bool measures_equal_plans = false;
  std::uint64_t seed = 1;  // seed of the order of cases within a round

  /// Minimum samples of a case even if its time is over, because an interval of the median needs at
  /// least three. After twice `max_seconds` the case ends with as few as one sample.
  int floor_samples = 3;
};

/// Facts about a case before the first round.
struct SamplerCase {
  double execution_seconds =
      0;  // time of the verification run, or less if its tasks were measured after it
  double warm_up_seconds = 0;  // wall time of the verification run
  /// Indices of the cases whose samples are paired with its own.
  std::vector<std::size_t> compared_with = {};
  /// Results of an earlier part of the run: samples to continue, whose time counts only towards the
  /// time of the case, and the reason why their sampling ended; empty if it did not.
  std::vector<report::Sample> samples = {};
  std::string stopped_because = {};
};

enum class MeasurementKind { warm_up, sample };

struct Measurement {
  MeasurementKind kind = MeasurementKind::sample;
  std::size_t index = 0;  // index of the case
  std::int64_t iterations = 1;
  int round = 0;  // round of a sample
};

/// Selects samples in rounds: every unfinished case once per round, in an order shuffled for each
/// round, cases without samples first. If time is short, a case without samples directly follows
/// the cases that it is compared with. Then, apart from the first sample of all, a baseline is
/// sampled only if there is also time for a case that is compared with it, and a case only if its
/// baseline is sampled, so that each sampled case has a ratio. Before its first sample, a short
/// case is warmed up until the sampler knows how many iterations a sample needs.
///
/// A case ends when its precision is reached ("precision"), when its next sample would probably
/// exceed its time ("max-time"), when the next round would exceed the time of all cases
/// ("total-time"; while a case has no sample, only a case whose own sample would), or at a fixed
/// number of samples ("fixed count"). Unless the number of samples is fixed, a case that has ended
/// is still sampled, within its own time, while a case that is compared with it has not ended, so
/// that comparisons use adjacent samples.
class Sampler {
 public:
  /// `budget` limits all cases together; `SamplerOptions::total_seconds` is not used here.
  Sampler(SamplerOptions options, const Budget& budget, const std::vector<SamplerCase>& cases);

  /// Returns the next measurement; nothing if every case has ended.
  [[nodiscard]] std::optional<Measurement> next();

  /// Adds the result of the measurement that `next` returned. `wall_seconds`: time of the whole
  /// measurement, including restoring data before it.
  void record(const Measurement& measurement, const report::Sample& sample, double wall_seconds);

  /// Adds wall time that the session spent on other work during sampling; it counts only towards
  /// the time of all cases.
  void spend(double wall_seconds) { other_seconds_ += wall_seconds; }

  /// Returns whether there is time for `wall_seconds` of other work and for every unfinished case
  /// to get this number of samples.
  [[nodiscard]] bool has_time_for(double wall_seconds, int samples) const;

  /// Drops a case that failed: it is not sampled again, and `stopped_because` is empty.
  void fail(std::size_t index);

  /// Ends a case whose device was lost ("device lost"). It keeps its samples, and its reason if it
  /// had already ended.
  void withdraw(std::size_t index);

  /// Ends every case that has not ended ("unfinished").
  void interrupt();

  [[nodiscard]] const std::vector<report::Sample>& samples(std::size_t index) const;
  /// Empty for a case that has not ended or that failed.
  [[nodiscard]] const std::string& stopped_because(std::size_t index) const;
  [[nodiscard]] std::int64_t iterations(std::size_t index) const;

  /// Returns the number of cases that have ended, including dropped ones.
  [[nodiscard]] std::size_t ended_cases() const;

  /// Returns the half-width of the median's 95% interval, divided by the median; nothing if
  /// unknown.
  [[nodiscard]] std::optional<double> reached_precision(std::size_t index) const;

  /// Returns the wall time of samples and warm-up so far, including the verification runs.
  [[nodiscard]] double spent_seconds() const;

  /// Estimates the wall time until every case has ended, from the cost and deviation of its samples
  /// so far and the 1/√n law of intervals; includes further samples of ended cases.
  [[nodiscard]] double seconds_left() const;

 private:
  struct State {
    double execution_seconds = 0;
    double spent = 0;
    std::vector<std::size_t> compared_with;
    std::int64_t iterations = 0;  // iterations of a sample; 0: not known yet
    int warm_ups = 0;
    double sample_cost = 0;  // wall time of the latest sample
    std::optional<double> precision;
    std::optional<double> deviation;  // relative standard deviation of the samples
    std::vector<report::Sample> samples;
    std::string stopped_because;
    bool dropped = false;  // never sampled again
  };

  void go_on_from(State& state, const SamplerCase& earlier);
  [[nodiscard]] std::optional<Measurement> next_warm_up() const;
  void settle_iterations(State& state) const;
  void begin_round();
  void put_compared_first();
  [[nodiscard]] bool ended(const State& state) const;
  /// Returns whether the case is sampled in the next round.
  [[nodiscard]] bool is_due(std::size_t index) const;
  /// Returns the number of further samples of this case that unfinished cases need for their
  /// comparison with it; 0 if the case cannot be sampled any more.
  [[nodiscard]] double samples_for_others(std::size_t index) const;
  [[nodiscard]] bool out_of_time(const State& state) const;
  static void note_spread(State& state);
  void note_common_deviation();
  void end_if_done(State& state) const;
  void end_what_time_forbids();
  [[nodiscard]] double total_left() const;
  [[nodiscard]] bool has_samples() const;
  /// Returns the cases that are compared with this case.
  [[nodiscard]] std::vector<std::size_t> partners_of(std::size_t index) const;
  /// Returns whether the baseline of a case has no sample for lack of time.
  [[nodiscard]] bool lacks_partner(const State& state) const;
  /// Returns the expected seconds of the shortest sample among the unfinished cases that are
  /// compared with this one; 0 if this case or one of them has samples.
  [[nodiscard]] double cost_of_partner(std::size_t index) const;
  /// Returns whether the first sample of a case would give its baseline the first case to be
  /// compared with; all cases that the case is compared with must have samples.
  [[nodiscard]] bool completes_pair(std::size_t index) const;
  [[nodiscard]] double expected_cost(const State& state) const;
  [[nodiscard]] double round_cost() const;
  /// Returns the expected relative standard deviation of a case's further samples.
  [[nodiscard]] std::optional<double> expected_deviation(const State& state) const;
  /// Returns the expected number of samples of a case without time limits.
  [[nodiscard]] double samples_wanted(const State& state) const;
  /// Returns the expected number of further samples; at least one for a case that has not ended.
  [[nodiscard]] double samples_left(const State& state) const;
  [[nodiscard]] double time_left(const State& state) const;
  [[nodiscard]] double seconds_left(std::size_t index) const;

  SamplerOptions options_;
  Budget budget_;
  std::vector<State> states_;
  std::vector<std::size_t> order_;  // remaining cases of the current round, in reverse order
  int round_ = -1;
  double other_seconds_ = 0;  // time added by `spend`, less the time of samples of an earlier part
  std::optional<double> common_deviation_;  // median of the cases' deviations
};

}  // namespace parbench
