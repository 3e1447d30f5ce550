// Metrics of a timeline in the report's units.
#include "bench/profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reports/statistics/statistics.h"
#include "reports/timeline/metrics.h"
#include "reports/timeline/parts.h"

namespace parbench {
namespace {

using timeline::Kind;
using timeline::seconds_of;

report::Waits waits_of(const timeline::Gaps& gaps) {
  return {.dependency = seconds_of(gaps.dependency),
          .host = seconds_of(gaps.host),
          .queue = seconds_of(gaps.queue)};
}

report::DeviceProfile profile_of_device(const timeline::DeviceMetrics& metrics) {
  return {.device = metrics.device,
          .busy = seconds_of(metrics.busy),
          .idle = seconds_of(metrics.idle),
          .bubble = seconds_of(metrics.bubble),
          .waits = waits_of(metrics.waits),
          .compute = seconds_of(metrics.time_of(Kind::compute)),
          .copy = seconds_of(metrics.time_of(Kind::copy)),
          .communication = seconds_of(metrics.time_of(Kind::communication)),
          .exposed_copy = seconds_of(metrics.exposed_copy),
          .exposed_communication = seconds_of(metrics.exposed_communication),
          .overlapped = seconds_of(metrics.overlapped)};
}

report::CriticalPath path_of(const timeline::CriticalPath& path) {
  const auto time_of = [&](Kind kind) {
    return seconds_of(path.of_kind[static_cast<std::size_t>(kind)]);
  };
  return {.compute = time_of(Kind::compute),
          .copy = time_of(Kind::copy),
          .communication = time_of(Kind::communication),
          .host = seconds_of(path.host),
          .queue = seconds_of(path.queue)};
}

std::vector<report::CallProfile> calls_of(const timeline::Timeline& timeline) {
  std::map<std::pair<std::string, Kind>, report::CallProfile> known;
  for (const timeline::Call& call : timeline.calls) {
    const Kind kind = timeline.tasks[call.task].kind;
    report::CallProfile& sum = known[{call.name, kind}];
    sum.name = call.name;
    sum.kind = name_of(kind);
    ++sum.count;
    sum.seconds += seconds_of(call.ran.length());
    if (timeline.launch != timeline::Launch::graph) {
      sum.enqueueing += seconds_of(call.enqueued.length());
    }
    sum.flops += call.flops;
    sum.bytes += call.bytes;
  }
  std::vector<report::CallProfile> calls;
  for (auto& [key, sum] : known) calls.push_back(std::move(sum));
  std::ranges::stable_sort(calls, std::ranges::greater(), &report::CallProfile::seconds);
  return calls;
}

std::vector<report::ReferenceCalls> reference_calls_of(const timeline::Timeline& timeline) {
  std::map<std::array<std::string, 3>, report::ReferenceCalls> known;
  for (const timeline::Call& call : timeline.calls) {
    if (call.reference_kernel.empty()) continue;
    report::ReferenceCalls& sum = known[{call.name, call.layer, call.reference_kernel}];
    sum.name = call.name;
    sum.layer = call.layer;
    sum.kernel = call.reference_kernel;
    ++sum.count;
    sum.seconds += seconds_of(call.ran.length());
  }
  std::vector<report::ReferenceCalls> calls;
  for (auto& [key, sum] : known) calls.push_back(std::move(sum));
  std::ranges::stable_sort(calls, std::ranges::greater(), &report::ReferenceCalls::seconds);
  return calls;
}

std::vector<report::TaskSpan> tasks_of(const timeline::Timeline& timeline) {
  std::vector<report::TaskSpan> spans;
  for (const timeline::Part& part : parts_of(timeline)) {
    const timeline::Task& task = timeline.tasks[part.task];
    spans.push_back({.task = static_cast<int>(part.task),
                     .name = task.name,
                     .kind = std::string(name_of(task.kind)),
                     .lane = static_cast<int>(part.lane),
                     .begin = seconds_of(part.ran.begin - timeline.begin),
                     .end = seconds_of(part.ran.end - timeline.begin),
                     .enqueued = std::max(0.0, seconds_of(part.enqueued.end - timeline.begin)),
                     .after = {task.after.begin(), task.after.end()},
                     .flops = part.flops,
                     .bytes = part.bytes});
  }
  return spans;
}

}  // namespace

report::Profile profile_of(const Recording& recording) {
  const timeline::Timeline& timeline = recording.timeline;
  const timeline::Metrics metrics = metrics_of(timeline);
  report::Profile profile;
  profile.executions = static_cast<int>(recording.seconds.size());
  profile.median = median(recording.seconds);
  profile.seconds_per_call = recording.seconds_per_call;
  profile.span = seconds_of(metrics.span);
  profile.clock_error = seconds_of(timeline.clock_error);
  for (const timeline::DeviceMetrics& device : metrics.devices) {
    profile.devices.push_back(profile_of_device(device));
  }
  profile.bubble_ratio = {.of_total = metrics.bubble_ratio_of_total(),
                          .of_busy = metrics.bubble_ratio_of_busy()};
  for (const timeline::Nanoseconds time : metrics.streams_busy) {
    profile.streams_busy.push_back(seconds_of(time));
  }
  for (std::size_t i = 0; i < metrics.gaps.size(); ++i) {
    const timeline::Lane& lane = timeline.lanes[i];
    profile.lanes.push_back({lane.name, lane.device, waits_of(metrics.gaps[i])});
  }
  profile.critical_path = path_of(metrics.critical_path);
  profile.calls = calls_of(timeline);
  profile.reference_calls = reference_calls_of(timeline);
  if (timeline.tasks.size() <= report::most_reported_tasks) profile.tasks = tasks_of(timeline);
  return profile;
}

}  // namespace parbench
