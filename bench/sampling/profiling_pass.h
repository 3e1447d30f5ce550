// The profiling pass: runs cases again after all samples and records a timeline of their calls.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/execution/ranges.h"
#include "reports/model/notes.h"
#include "reports/model/profile.h"
#include "reports/model/report.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

struct PreparedCase;

/// Number of recorded executions of a case whose execution takes so long: as many as fit into 30
/// ms, from 1 to 25.
[[nodiscard]] int recorded_executions(double execution_seconds);

/// Estimated seconds of these executions, including the unrecorded ones before them.
[[nodiscard]] double profiling_seconds(double execution_seconds);

/// A recorded execution represents the samples when its time differs from their median by at most
/// this share, or lies between the quartiles of at least min_quartile_samples samples. Their whole
/// range is no measure: that of a few is too narrow, and a single disturbed sample makes it too
/// wide.
constexpr double max_typical_deviation = 0.05;
constexpr std::size_t min_quartile_samples = 8;

/// Recordings of a case at most: it is profiled again until an execution is near the median.
constexpr int max_profiling_runs = 8;

using report::no_timeline;

/// Returns the profile in a report from the recording of a case.
[[nodiscard]] report::Profile profile_of(const Recording& recording);

/// Called with each profiled case and the timeline of its recorded execution.
using KeepTimeline = std::function<void(const report::CaseResult&, const Timeline&)>;

/// Profiles the cases of a session.
class ProfilingPass {
 public:
  /// Without `keep` there is no profiling pass.
  ProfilingPass(KeepTimeline keep, std::function<bool()> interrupted)
      : keep_(std::move(keep)), interrupted_(std::move(interrupted)) {}

  [[nodiscard]] bool wanted() const { return keep_ != nullptr; }

  /// Resets the expected time: the cases so far failed before they were profiled, or are announced
  /// again.
  void expect_none() {
    seconds_left_ = 0;
    cases_left_ = 0;
  }
  /// Announces a case that will be profiled.
  void expect(const PreparedCase& prepared);
  /// Takes back the announcement of a case.
  void withdraw(const PreparedCase& prepared);
  /// Estimated seconds for the announced cases that are not profiled yet; 0 without a profiling
  /// pass.
  [[nodiscard]] double seconds_left() const { return seconds_left_; }

  /// A case that has been sampled and is to be profiled.
  struct Subject {
    report::CaseResult& result;  // gets a profile, or a note that says why it has none
    PreparedCase& prepared;
    const std::vector<report::Sample>& samples;
    bool restored = false;     // its data is as its last execution left it
    double spare_seconds = 0;  // that the session has left for this case and those after it
  };

  /// Records a case and adds its profile. A failure becomes a note of the case, which keeps its
  /// samples. Throws only what concerns more than this case: Interrupted, TimedOut and DeviceLost.
  void profile(const Subject& subject);

  /// Notes why a case has no profile.
  static void note(report::CaseResult& result, std::string_view reason);

 private:
  void record(const Subject& subject) const;
  [[nodiscard]] Recording typical_recording(const Subject& subject, double sampled) const;
  void stop_if_interrupted() const;

  KeepTimeline keep_;
  std::function<bool()> interrupted_;
  RangeName range_{"timeline"};
  double seconds_left_ = 0;
  int cases_left_ = 0;  // announced and not profiled yet
};

}  // namespace parbench
