// Looking at cases once more after all samples, while each of their calls is noted.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/execution/ranges.h"
#include "reports/model/report.h"
#include "reports/model/without_profile.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

struct PreparedCase;

/// How often a case is looked at that takes so long: enough that the median of short ones means
/// something.
[[nodiscard]] int recorded_executions(double execution_seconds);

/// About what that takes, with what precedes it.
[[nodiscard]] double profiling_seconds(double execution_seconds);

/// An execution is far from the samples when its time is from their median by more than this share
/// of it. Their range is no measure: that of a few samples misses much, and one sample that was
/// disturbed widens it to hold what it should not.
constexpr double max_typical_deviation = 0.10;

/// A case is looked at again while the execution that is told of is far from its samples.
constexpr int max_profiling_runs = 3;

using report::no_timeline;

/// Called with each case that was looked at, and how the execution went that is told of.
using KeepTimeline = std::function<void(const report::CaseResult&, const Timeline&)>;

/// What the cases of a session have in common.
class ProfilingPass {
 public:
  /// Nobody looks where nothing is to be kept.
  ProfilingPass(KeepTimeline keep, std::function<bool()> interrupted)
      : keep_(std::move(keep)), interrupted_(std::move(interrupted)) {}

  [[nodiscard]] bool wanted() const { return keep_ != nullptr; }

  /// What was expected so far failed before it could be looked at, or is told anew.
  void expect_none() { seconds_left_ = 0; }
  /// One more case is to be looked at.
  void expect(const PreparedCase& prepared);
  /// About what looking at those takes that have not been; 0 where nobody looks.
  [[nodiscard]] double seconds_left() const { return seconds_left_; }

  /// A case that has been sampled.
  struct Subject {
    report::CaseResult& result;  // gets a profile, or a note that says why it has none
    PreparedCase& prepared;
    const std::vector<report::Sample>& samples;
    bool restored = false;     // its data is as its last execution left it
    double spare_seconds = 0;  // that the session has left for this case and those after it
  };

  /// Whatever goes wrong, the case keeps what it has. Throws only what concerns more than this
  /// case: Interrupted, TimedOut and DeviceLost.
  void profile(const Subject& subject);

  /// Why a case was not looked at.
  static void note(report::CaseResult& result, std::string_view reason);

 private:
  void record(const Subject& subject) const;
  [[nodiscard]] Recording typical_recording(const Subject& subject, double sampled) const;
  void stop_if_interrupted() const;

  KeepTimeline keep_;
  std::function<bool()> interrupted_;
  RangeName range_{"timeline"};
  double seconds_left_ = 0;
};

}  // namespace parbench
