// Time of a session: how it was spent, and what fits into the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace parbench {

/// Parts of the duration of a session, in seconds. The remaining time is the harness's own:
/// checkpoints, opening devices, reports.
struct PhaseTimes {
  double preparation = 0;   // planning, memory, initial data; restoring data
  double verification = 0;  // executions of references, and comparisons with their outputs
  double sampling = 0;      // samples and warm-up, including the verified execution
  double task_costs = 0;    // measurements of single tasks, for the bounds
  double profiling = 0;

  PhaseTimes& operator+=(const PhaseTimes& other) {
    preparation += other.preparation;
    verification += other.verification;
    sampling += other.sampling;
    task_costs += other.task_costs;
    profiling += other.profiling;
    return *this;
  }
  [[nodiscard]] double sum() const {
    return preparation + verification + sampling + task_costs + profiling;
  }
};

/// Decides whether there is time for another case. All times are in seconds.
class SessionTime {
 public:
  /// The session begins with the construction. `now`: monotonic.
  SessionTime(std::function<double()> now, double total)
      : now_(std::move(now)), end_(now_() + total) {}

  [[nodiscard]] double left() const { return std::isinf(end_) ? end_ : end_ - now_(); }

  /// Adds a case. `preparation`: time of its preparation; `sample`: expected time of one sample.
  void add_case(double preparation, double sample) {
    next_case_ = preparation + samples_when_short * sample;
    round_ += sample;
  }

  /// Returns the time left for preparation, without the time for the first samples of the prepared
  /// cases.
  [[nodiscard]] double left_to_prepare() const { return left() - samples_when_short * round_; }

  /// Returns the estimated time of a round: one sample of each prepared case.
  [[nodiscard]] double round() const { return round_; }

  /// Returns whether another case can be prepared and sampled beside the prepared ones, if it takes
  /// as long as the latest one.
  [[nodiscard]] bool has_time_for_another() const {
    return left() > 0 && next_case_ <= left_to_prepare();
  }

 private:
  /// Cases without time for this number of samples are left out: a single sample has no interval.
  static constexpr int samples_when_short = 2;

  std::function<double()> now_;
  double end_;
  double next_case_ = 0;
  double round_ = 0;
};

/// Decides when a checkpoint is due. A killed run loses at most ten seconds of samples, unless a
/// single measurement takes longer.
class CheckpointTimes {
 public:
  static constexpr double preparation_period = 2;
  static constexpr double sampling_period = 5;

  /// `now`: monotonic.
  explicit CheckpointTimes(std::function<double()> now) : now_(std::move(now)) {}

  /// Expects work of this length, during which no checkpoint can be written.
  void expect_work(double seconds) { longest_work_ = std::max(longest_work_, seconds); }

  /// Returns whether `period` seconds have passed since the latest checkpoint, or the next work
  /// could end too late.
  [[nodiscard]] bool is_due(double period) const {
    const double passed = now_() - latest_;
    return passed >= period || passed + longest_work_ > max_lost_seconds;
  }

  void written() { latest_ = now_(); }

 private:
  static constexpr double max_lost_seconds = 10;

  std::function<double()> now_;
  double latest_ = 0;
  double longest_work_ = 0;
};

}  // namespace parbench
