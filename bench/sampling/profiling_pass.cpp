#include "bench/sampling/profiling_pass.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <numeric>
#include <optional>

#include "bench/execution/interrupt.h"
#include "bench/sampling/budget.h"
#include "bench/sampling/preparation.h"
#include "kernels/base/error.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr double recorded_seconds = 0.03;
constexpr int max_executions = 25;

double kept_seconds(const Recording& recording) { return recording.seconds.at(recording.kept); }

/// Returns the seconds of these executions, including an unrecorded one before each if there are
/// several.
double seconds_with_unrecorded(const std::vector<double>& seconds) {
  const double noted = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return seconds.size() > 1 ? 2 * noted : noted;
}

bool is_near(double seconds, double sampled) {
  return sampled <= 0 || std::abs(seconds / sampled - 1) <= max_typical_deviation;
}

/// Returns whether a time lies in the middle half of the samples; false if there are too few.
bool is_in_middle_half(double seconds, std::vector<double> samples) {
  if (samples.size() < min_quartile_samples) return false;
  std::ranges::sort(samples);
  const std::size_t quarter = samples.size() / 4;
  return samples[quarter] <= seconds && seconds <= samples[samples.size() - 1 - quarter];
}

/// Returns the relative deviation of a time from the samples' median; nothing if the time
/// represents the samples.
std::optional<double> deviation(double seconds, double sampled,
                                const std::vector<report::Sample>& samples) {
  if (is_near(seconds, sampled) || is_in_middle_half(seconds, seconds_of(samples))) {
    return std::nullopt;
  }
  return seconds / sampled - 1;
}

}  // namespace

int recorded_executions(double execution_seconds) {
  if (execution_seconds <= 0) return max_executions;
  return static_cast<int>(
      std::clamp(std::floor(recorded_seconds / execution_seconds), 1.0, double{max_executions}));
}

double profiling_seconds(double execution_seconds) {
  const int executions = recorded_executions(execution_seconds);
  return execution_seconds * (executions > 1 ? 2 * executions : executions);
}

report::Profile profile_of(const Recording& recording) {
  report::Profile profile;
  profile.executions = static_cast<int>(recording.seconds.size());
  profile.median = median(recording.seconds);
  profile.seconds_per_call = recording.seconds_per_call;
  profile.metrics = metrics_of(recording.timeline);
  if (recording.timeline.graph.tasks.size() <= report::max_reported_tasks) {
    profile.timeline = merge_calls(recording.timeline);
  }
  return profile;
}

void ProfilingPass::note(report::CaseResult& result, std::string_view reason) {
  result.notes.emplace_back(no_timeline, reason);
}

void ProfilingPass::expect(const PreparedCase& prepared) {
  if (!wanted()) return;
  seconds_left_ += profiling_seconds(prepared.execution_seconds);
  ++cases_left_;
}

void ProfilingPass::withdraw(const PreparedCase& prepared) {
  if (!wanted()) return;
  seconds_left_ -= profiling_seconds(prepared.execution_seconds);
  --cases_left_;
}

void ProfilingPass::profile(const Subject& subject) {
  withdraw(subject.prepared);
  const Range range(range_);
  try {
    record(subject);
  } catch (const Interrupted&) {
    note(subject.result, "interrupted");
    throw;
  } catch (const TimedOut& error) {
    note(subject.result, error.what());
    throw;
  } catch (const DeviceLost& error) {
    note(subject.result, error.what());
    throw;
  } catch (const std::bad_alloc&) {
    note(subject.result, "out of memory on the host");
  } catch (const std::exception& error) {
    note(subject.result, error.what());
  } catch (...) {
    note(subject.result, "an exception that is not a std::exception");
  }
}

void ProfilingPass::stop_if_interrupted() const {
  if (interrupted_()) throw Interrupted();
}

/// Records a case until a recording is near the median of the samples, but at most
/// `max_profiling_runs` times, and only within the case's equal share of the time that later cases
/// are not expected to need. Returns the nearest recording, with the times of all recordings.
Recording ProfilingPass::typical_recording(const Subject& subject, double sampled) const {
  const int executions = recorded_executions(sampled);
  double spare = (subject.spare_seconds - profiling_slowdown * seconds_left_) / (cases_left_ + 1);
  std::vector<Recording> recordings;
  std::vector<double> seconds;  // time of each kept execution
  double taken = 0;
  do {
    recordings.push_back(subject.prepared.runner->record(executions, sampled));
    seconds.push_back(kept_seconds(recordings.back()));
    taken = seconds_with_unrecorded(recordings.back().seconds);
    spare -= taken;
  } while (!is_near(seconds.back(), sampled) && std::ssize(recordings) < max_profiling_runs &&
           spare >= taken && !interrupted_());
  const std::size_t kept = nearest_index(seconds, sampled);
  Recording recording = std::move(recordings[kept]);
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    if (i == kept) continue;
    recording.seconds.insert(recording.seconds.end(), recordings[i].seconds.begin(),
                             recordings[i].seconds.end());
  }
  return recording;
}

void ProfilingPass::record(const Subject& subject) const {
  stop_if_interrupted();
  PreparedCase& prepared = subject.prepared;
  const double sampled =
      subject.samples.empty() ? prepared.execution_seconds : median(seconds_of(subject.samples));
  prepared.runner->check_recording();
  if (!subject.restored) prepared.subject->refresh();
  stop_if_interrupted();
  Recording recording = typical_recording(subject, sampled);
  recording.timeline = begin_together(std::move(recording.timeline));
  report::Profile profile = profile_of(recording);
  profile.deviation = deviation(kept_seconds(recording), sampled, subject.samples);
  keep_(subject.result, recording.timeline);
  subject.result.profile = std::move(profile);
}

}  // namespace parbench
