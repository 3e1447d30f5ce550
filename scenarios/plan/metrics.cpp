// Computes unions and intersections of the intervals of a timeline's calls.
#include "scenarios/plan/metrics.h"

#include <algorithm>
#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace parbench {
namespace {

namespace icl = boost::icl;
using Times = icl::interval_set<Nanoseconds>;

icl::discrete_interval<Nanoseconds> interval_of(const TimeSpan& span) {
  return icl::discrete_interval<Nanoseconds>::right_open(span.begin, span.end);
}

Nanoseconds length_of(const Times& times) { return static_cast<Nanoseconds>(icl::length(times)); }

/// `Waits` in whole nanoseconds.
struct Gaps {
  Nanoseconds dependency = 0;
  Nanoseconds host = 0;
  Nanoseconds queue = 0;

  Gaps& operator+=(const Gaps& other) {
    dependency += other.dependency;
    host += other.host;
    queue += other.queue;
    return *this;
  }
  [[nodiscard]] Waits waits() const {
    return {seconds_of(dependency), seconds_of(host), seconds_of(queue)};
  }
};

std::vector<double> streams_busy(const Timeline& timeline) {
  icl::interval_map<Nanoseconds, std::size_t> busy_lanes;
  const auto lanes = static_cast<LaneId>(timeline.graph.lanes.size());
  for (LaneId lane = 0; lane < lanes; ++lane) {
    Times busy;
    for (const TimedCall& call : timeline.calls) {
      if (call.lane == lane) busy += interval_of(call.ran);
    }
    for (const auto& part : busy) busy_lanes += std::pair(part, std::size_t{1});
  }
  std::vector<Nanoseconds> lengths(timeline.graph.lanes.size() + 1);
  for (const auto& [part, count] : busy_lanes) {
    lengths[count] += static_cast<Nanoseconds>(icl::length(part));
  }
  lengths[0] = timeline.length() - std::accumulate(lengths.begin(), lengths.end(), Nanoseconds{0});
  std::vector<double> seconds(lengths.size());
  std::ranges::transform(lengths, seconds.begin(), seconds_of);
  return seconds;
}

/// Finds the calls that had to end before a call could begin.
class Causes {
 public:
  explicit Causes(const Timeline& timeline)
      : timeline_(timeline),
        before_(timeline.calls.size()),
        last_of_task_(timeline.graph.tasks.size()) {
    std::vector<std::optional<std::size_t>> latest(timeline.graph.lanes.size());
    for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
      const TimedCall& call = timeline.calls[i];
      std::optional<std::size_t>& before = latest.at(static_cast<std::size_t>(call.lane));
      before_[i] = std::exchange(before, i);
      std::optional<std::size_t>& last = last_of_task_.at(static_cast<std::size_t>(call.task));
      if (!last || call.ran.end > timeline.calls[*last].ran.end) last = i;
      if (timeline.graph.task(call.task).lanes.size() > 1)
        first_of_lane_[call.task].try_emplace(call.lane, i);
    }
  }

  [[nodiscard]] std::optional<std::size_t> before_on_lane(std::size_t call) const {
    return before_[call];
  }

  /// Returns the call of another task for whose end this call waits, if this call is the first of
  /// its task on its lane; otherwise nothing. That is the call that ends last among the last calls
  /// of the tasks in `after` and, for a task on several lanes, the previous calls on those lanes
  /// where the task begins at the same time.
  [[nodiscard]] std::optional<std::size_t> dependency(std::size_t index) const {
    const TimedCall& call = timeline_.calls[index];
    const std::optional<std::size_t> before = before_[index];
    if (before && timeline_.calls[*before].task == call.task) return std::nullopt;
    std::optional<std::size_t> latest;
    const auto consider = [&](std::optional<std::size_t> cause) {
      if (cause && (!latest || ended(cause) > ended(latest))) latest = cause;
    };
    for (const TaskId task : timeline_.graph.task(call.task).after) {
      const std::optional<std::size_t> last = last_of_task_[static_cast<std::size_t>(task)];
      // A collective that still runs on another lane does not delay later calls on this lane.
      if (ended(last) <= call.ran.begin || !runs_on(timeline_.graph.task(task), call.lane)) {
        consider(last);
      }
    }
    const auto lanes = first_of_lane_.find(call.task);
    if (lanes == first_of_lane_.end()) return latest;
    for (const auto& [lane, first] : lanes->second) {
      if (timeline_.calls[first].ran.begin == call.ran.begin) consider(before_[first]);
    }
    return latest;
  }

  [[nodiscard]] Nanoseconds ended(std::optional<std::size_t> call) const {
    return call ? timeline_.calls[*call].ran.end : timeline_.begin;
  }

 private:
  const Timeline& timeline_;
  std::vector<std::optional<std::size_t>> before_;
  std::vector<std::optional<std::size_t>> last_of_task_;
  /// For tasks with several lanes: the first call on each lane.
  std::map<TaskId, std::map<LaneId, std::size_t>> first_of_lane_;
};

/// Divides the idle time before a call by cause. `free`: beginning of the idle time; `dependency`:
/// end of the call for which it waits.
Gaps gaps_before(const TimedCall& call, Nanoseconds free, Nanoseconds dependency) {
  const Nanoseconds begin = std::max(free, call.ran.begin);
  const Nanoseconds ready = std::clamp(dependency, free, begin);
  const Nanoseconds enqueued = std::clamp(call.enqueued.end, ready, begin);
  return {.dependency = ready - free, .host = enqueued - ready, .queue = begin - enqueued};
}

std::vector<LaneMetrics> metrics_of_lanes(const Timeline& timeline, const Causes& causes) {
  std::vector<Gaps> gaps(timeline.graph.lanes.size());
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const TimedCall& call = timeline.calls[i];
    gaps[static_cast<std::size_t>(call.lane)] += gaps_before(
        call, causes.ended(causes.before_on_lane(i)), causes.ended(causes.dependency(i)));
  }
  std::vector<LaneMetrics> lanes;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const Lane& lane = timeline.graph.lanes[i];
    lanes.push_back({lane.name, lane.device, gaps[i].waits()});
  }
  return lanes;
}

bool is_on(const Timeline& timeline, const TimedCall& call, const std::string& device) {
  return timeline.graph.lane(call.lane).device == device;
}

/// Returns the waits of a device: the idle times before those of its calls that begin while no
/// other of its calls runs.
Waits waits_of(const Timeline& timeline, const Causes& causes, const std::string& device) {
  std::vector<std::size_t> calls;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    if (is_on(timeline, timeline.calls[i], device)) calls.push_back(i);
  }
  std::ranges::stable_sort(calls, {}, [&](std::size_t i) { return timeline.calls[i].ran.begin; });
  Gaps gaps;
  Nanoseconds busy_until = timeline.begin;
  for (const std::size_t i : calls) {
    const TimedCall& call = timeline.calls[i];
    if (call.ran.begin > busy_until) {
      gaps += gaps_before(call, busy_until, causes.ended(causes.dependency(i)));
    }
    busy_until = std::max(busy_until, call.ran.end);
  }
  return gaps.waits();
}

DeviceMetrics metrics_of_device(const Timeline& timeline, const Causes& causes,
                                const std::string& device) {
  std::map<TaskKind, Times> ran;
  for (const TimedCall& call : timeline.calls) {
    if (!is_on(timeline, call, device)) continue;
    ran[timeline.graph.task(call.task).kind] += interval_of(call.ran);
  }
  const Times& compute = ran[TaskKind::compute];
  const Times& copy = ran[TaskKind::copy];
  const Times& communication = ran[TaskKind::communication];
  const Times moving = copy + communication;
  const Times busy = compute + moving;
  const Nanoseconds busy_time = length_of(busy);
  const Nanoseconds bubble = busy.empty() ? 0 : icl::last(busy) + 1 - icl::first(busy) - busy_time;
  return {.device = device,
          .busy = seconds_of(busy_time),
          .idle = seconds_of(timeline.length() - busy_time),
          .bubble = seconds_of(bubble),
          .waits = waits_of(timeline, causes, device),
          .compute = seconds_of(length_of(compute)),
          .copy = seconds_of(length_of(copy)),
          .communication = seconds_of(length_of(communication)),
          .exposed_copy = seconds_of(length_of(copy - compute)),
          .exposed_communication = seconds_of(length_of(communication - compute)),
          .overlapped = seconds_of(length_of(moving & compute))};
}

CriticalPath critical_path_of(const Timeline& timeline, const Causes& causes) {
  if (timeline.calls.empty()) return {};
  std::map<TaskKind, Nanoseconds> of_kind;
  Nanoseconds host = 0;
  Nanoseconds queue = 0;
  const auto last = std::ranges::max_element(timeline.calls, {},
                                             [](const TimedCall& call) { return call.ran.end; });
  std::optional<std::size_t> at = static_cast<std::size_t>(last - timeline.calls.begin());
  Nanoseconds until = last->ran.end;  // the sums already include the time from then on
  while (at) {
    const TimedCall& call = timeline.calls[*at];
    const Nanoseconds begin = std::min(call.ran.begin, until);
    of_kind[timeline.graph.task(call.task).kind] += until - begin;
    const std::optional<std::size_t> lane = causes.before_on_lane(*at);
    const std::optional<std::size_t> other = causes.dependency(*at);
    const std::optional<std::size_t> cause =
        causes.ended(other) > causes.ended(lane) ? other : lane;
    const Nanoseconds caused = std::min(causes.ended(cause), begin);
    const Nanoseconds enqueued = std::min(call.enqueued.end, begin);
    if (enqueued > caused) {  // attribute the whole time until then to the host's enqueueing
      queue += begin - enqueued;
      host += enqueued - timeline.begin;
      break;
    }
    queue += begin - caused;
    until = caused;
    at = cause;
  }
  return {.compute = seconds_of(of_kind[TaskKind::compute]),
          .copy = seconds_of(of_kind[TaskKind::copy]),
          .communication = seconds_of(of_kind[TaskKind::communication]),
          .host = seconds_of(host),
          .queue = seconds_of(queue)};
}

BubbleRatio bubble_ratio_of(const std::vector<DeviceMetrics>& devices, double span) {
  double idle = 0;
  double busy = 0;
  for (const DeviceMetrics& device : devices) {
    idle += device.idle;
    busy += device.busy;
  }
  const double total = span * static_cast<double>(devices.size());
  return {.of_total = total > 0 ? idle / total : 0, .of_busy = busy > 0 ? idle / busy : 0};
}

std::vector<CallMetrics> metrics_of_calls(const Timeline& timeline) {
  std::map<std::tuple<std::string, std::string, TaskKind, std::string>, CallMetrics> known;
  for (const TimedCall& call : timeline.calls) {
    const TaskKind kind = timeline.graph.task(call.task).kind;
    const std::string& where = call.layer.empty() ? call.tensors : call.layer;
    const auto [found, is_new] = known.try_emplace({where, call.name, kind, call.kernel});
    CallMetrics& sum = found->second;
    if (is_new) {
      sum = {.name = call.name,
             .kind = kind,
             .layer = call.layer,
             .tensors = call.layer.empty() || call.reference ? call.tensors : "",
             .kernel = call.kernel,
             .reference = call.reference};
    }
    ++sum.count;
    sum.seconds += seconds_of(call.ran.length());
    sum.team_waiting += seconds_of(call.team_waiting);
    if (timeline.graph.submit != SubmitMode::graph) {
      sum.enqueueing += seconds_of(call.enqueued.length());
    }
    sum.flops += call.work.flops;
    sum.bytes += call.work.bytes;
  }
  std::vector<CallMetrics> sums;
  for (auto& [key, sum] : known) sums.push_back(std::move(sum));
  std::ranges::stable_sort(sums, std::ranges::greater(), &CallMetrics::seconds);
  return sums;
}

double bus_bandwidth_of(const PlanGraph& graph, const std::vector<DeviceMetrics>& devices) {
  double sent = 0;
  for (const Task& task : graph.tasks) sent += task.sent;
  double seconds = 0;
  for (const DeviceMetrics& device : devices) seconds += device.communication;
  return seconds > 0 ? sent / seconds : 0;
}

}  // namespace

TimelineMetrics metrics_of(const Timeline& timeline) {
  const Causes causes(timeline);
  TimelineMetrics metrics;
  metrics.span = seconds_of(timeline.length());
  metrics.clock_error = seconds_of(timeline.clock_error);
  for (const std::string& device : timeline.graph.devices()) {
    metrics.devices.push_back(metrics_of_device(timeline, causes, device));
  }
  metrics.bubble_ratio = bubble_ratio_of(metrics.devices, metrics.span);
  metrics.streams_busy = streams_busy(timeline);
  metrics.lanes = metrics_of_lanes(timeline, causes);
  metrics.critical_path = critical_path_of(timeline, causes);
  metrics.calls = metrics_of_calls(timeline);
  metrics.bus_bandwidth = bus_bandwidth_of(timeline.graph, metrics.devices);
  return metrics;
}

}  // namespace parbench
