// Metrics and tasks of a recording.
#include "bench/sampling/profile.h"

#include "reports/statistics/statistics.h"

namespace parbench {

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

}  // namespace parbench
