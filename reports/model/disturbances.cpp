// What the conditions and the timeline of a case say of disturbances.
#include "reports/model/disturbances.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace parbench::report {

bool is_throttled(const CaseResult& c) { return c.throttling && c.throttling->flagged; }

void add_throttles(std::vector<std::string>& known, const CaseResult& c) {
  if (!is_throttled(c)) return;
  for (const ThrottleReason& reason : c.throttling->reasons) {
    std::string text = fmt::format("{} on {}", reason.reason, reason.device);
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      known.push_back(std::move(text));
    }
  }
}

bool has_more_threads_than_cores(const CaseResult& c, const std::string& device) {
  if (!c.profile || !c.profile->timeline) return false;
  int threads = 0;
  int cores = 0;
  for (const Lane& lane : c.profile->timeline->graph.lanes) {
    if (lane.device != device || lane.kind != StreamKind::compute || lane.device_cores == 0) {
      continue;
    }
    threads += lane.threads;
    cores = lane.device_cores;
  }
  return threads > cores;
}

double cores_taken(const CaseResult& c) {
  double share = 0;
  for (const CaseCondition& condition : c.conditions) {
    if (!condition.threads || has_more_threads_than_cores(c, condition.device)) continue;
    share = std::max(share, condition.threads->core_wait);
  }
  return share;
}

}  // namespace parbench::report
