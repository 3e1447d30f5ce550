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

/// Returns the number of recorded executions of a case: as many as fit into 30 ms, from 1 to 25.
[[nodiscard]] int recorded_executions(double execution_seconds);

/// Estimates the seconds of these executions, including the unrecorded ones before them.
[[nodiscard]] double profiling_seconds(double execution_seconds);

/// A recorded execution represents the samples if its time differs from their median by at most
/// this share, or lies between the quartiles of at least min_quartile_samples samples. The range of
/// all samples is not used: it is too narrow for few samples, and a disturbed sample makes it too
/// wide.
constexpr double max_typical_deviation = 0.05;
constexpr std::size_t min_quartile_samples = 8;

/// Maximum number of recordings of a case, which are repeated until one is near the median.
constexpr int max_profiling_runs = 8;

using report::no_timeline;

/// Returns a report's profile from the recording of a case.
[[nodiscard]] report::Profile profile_of(const Recording& recording);

/// Called with each profiled case and the timeline of its recorded execution.
using KeepTimeline = std::function<void(const report::CaseResult&, const Timeline&)>;

class ProfilingPass {
 public:
  /// `keep`: null if there is no profiling pass.
  ProfilingPass(KeepTimeline keep, std::function<bool()> interrupted)
      : keep_(std::move(keep)), interrupted_(std::move(interrupted)) {}

  [[nodiscard]] bool wanted() const { return keep_ != nullptr; }

  /// Withdraws the announcements of all cases.
  void expect_none() {
    seconds_left_ = 0;
    cases_left_ = 0;
  }
  /// Announces a case that will be profiled.
  void expect(const PreparedCase& prepared);
  /// Withdraws the announcement of a case.
  void withdraw(const PreparedCase& prepared);
  /// Returns the estimated seconds of announced cases that are not profiled yet; 0 without a
  /// profiling pass.
  [[nodiscard]] double seconds_left() const { return seconds_left_; }

  /// A sampled case to be profiled.
  struct Subject {
    report::CaseResult& result;  // gets a profile, or a note with the reason for having none
    PreparedCase& prepared;
    const std::vector<report::Sample>& samples;
    bool restored = false;     // the shared memory still has this case's data
    double spare_seconds = 0;  // time left for this case and later ones
  };

  /// Records a case and adds its profile. A failure becomes a note of the case, which keeps its
  /// samples. Throws only exceptions that affect other cases: Interrupted, TimedOut and DeviceLost.
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
  int cases_left_ = 0;  // announced and not yet profiled
};

}  // namespace parbench
