// Interval arithmetic over the calls of a timeline.
#include "reports/timeline/metrics.h"

#include <algorithm>
#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <numeric>
#include <optional>

namespace parbench::timeline {
namespace {

namespace icl = boost::icl;
using Times = icl::interval_set<Nanoseconds>;

icl::discrete_interval<Nanoseconds> interval_of(const Span& span) {
  return icl::discrete_interval<Nanoseconds>::right_open(span.begin, span.end);
}

Nanoseconds length_of(const Times& times) { return static_cast<Nanoseconds>(icl::length(times)); }

Nanoseconds length_of(const Timeline& timeline) { return timeline.end - timeline.begin; }

constexpr std::array<Kind, 3> kinds{Kind::compute, Kind::copy, Kind::communication};

std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

std::vector<Nanoseconds> streams_busy(const Timeline& timeline) {
  icl::interval_map<Nanoseconds, std::size_t> busy_lanes;
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    Times busy;
    for (const Call& call : timeline.calls) {
      if (call.lane == lane) busy += interval_of(call.ran);
    }
    for (const auto& part : busy) busy_lanes += std::pair(part, std::size_t{1});
  }
  std::vector<Nanoseconds> lengths(timeline.lanes.size() + 1);
  for (const auto& [part, count] : busy_lanes) {
    lengths[count] += static_cast<Nanoseconds>(icl::length(part));
  }
  lengths[0] =
      length_of(timeline) - std::accumulate(lengths.begin(), lengths.end(), Nanoseconds{0});
  return lengths;
}

/// What each call waits for.
class Causes {
 public:
  explicit Causes(const Timeline& timeline)
      : timeline_(timeline), before_(timeline.calls.size()), last_of_task_(timeline.tasks.size()) {
    std::vector<std::optional<std::size_t>> latest(timeline.lanes.size());
    for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
      const Call& call = timeline.calls[i];
      before_[i] = latest[call.lane];
      latest[call.lane] = i;
      std::optional<std::size_t>& last = last_of_task_[call.task];
      if (!last || call.ran.end > timeline.calls[*last].ran.end) last = i;
    }
  }

  /// The call before it on its lane.
  [[nodiscard]] std::optional<std::size_t> before_on_lane(std::size_t call) const {
    return before_[call];
  }

  /// The call that ended last of those of other tasks that it waits for, which only the first call
  /// of a task on a lane does. It waits for all lanes of a collective, unless it has the same ones:
  /// those are in order rank for rank, and what ran before on its lane is known.
  [[nodiscard]] std::optional<std::size_t> dependency(std::size_t index) const {
    const Call& call = timeline_.calls[index];
    const std::optional<std::size_t> before = before_[index];
    if (before && timeline_.calls[*before].task == call.task) return std::nullopt;
    std::optional<std::size_t> latest;
    const timeline::Task& waiting = timeline_.tasks[call.task];
    for (const std::size_t task : waiting.after) {
      if (timeline_.tasks[task].lanes == waiting.lanes) continue;
      const std::optional<std::size_t> last = last_of_task_[task];
      if (last && (!latest || ended(last) > ended(latest))) latest = last;
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
};

/// The time from `free`, when the lane had ended what was before, to the call's beginning.
Gaps gaps_before(const Call& call, Nanoseconds free, Nanoseconds dependency) {
  const Nanoseconds begin = std::max(free, call.ran.begin);
  const Nanoseconds ready = std::clamp(dependency, free, begin);
  const Nanoseconds enqueued = std::clamp(call.enqueued.end, ready, begin);
  return {.dependency = ready - free, .host = enqueued - ready, .queue = begin - enqueued};
}

std::vector<Gaps> gaps_of(const Timeline& timeline, const Causes& causes) {
  std::vector<Gaps> gaps(timeline.lanes.size());
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const Call& call = timeline.calls[i];
    gaps[call.lane] += gaps_before(call, causes.ended(causes.before_on_lane(i)),
                                   causes.ended(causes.dependency(i)));
  }
  return gaps;
}

/// Before the calls of a device that begin while none of its others runs.
Gaps waits_of(const Timeline& timeline, const Causes& causes, const std::string& device) {
  std::vector<std::size_t> calls;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    if (timeline.lanes[timeline.calls[i].lane].device == device) calls.push_back(i);
  }
  std::ranges::stable_sort(calls, {}, [&](std::size_t i) { return timeline.calls[i].ran.begin; });
  Gaps waits;
  Nanoseconds busy_until = timeline.begin;
  for (const std::size_t i : calls) {
    const Call& call = timeline.calls[i];
    if (call.ran.begin > busy_until) {
      waits += gaps_before(call, busy_until, causes.ended(causes.dependency(i)));
    }
    busy_until = std::max(busy_until, call.ran.end);
  }
  return waits;
}

DeviceMetrics metrics_of_device(const Timeline& timeline, const Causes& causes,
                                const std::string& device) {
  std::array<Times, kinds.size()> ran;
  for (const Call& call : timeline.calls) {
    if (timeline.lanes[call.lane].device != device) continue;
    ran[index_of(timeline.tasks[call.task].kind)] += interval_of(call.ran);
  }
  const Times& compute = ran[index_of(Kind::compute)];
  const Times& copy = ran[index_of(Kind::copy)];
  const Times& communication = ran[index_of(Kind::communication)];
  const Times moving = copy + communication;
  const Times busy = compute + moving;

  DeviceMetrics metrics;
  metrics.device = device;
  metrics.waits = waits_of(timeline, causes, device);
  metrics.busy = length_of(busy);
  metrics.idle = length_of(timeline) - metrics.busy;
  metrics.bubble = busy.empty() ? 0 : icl::last(busy) + 1 - icl::first(busy) - metrics.busy;
  for (const Kind kind : kinds) metrics.of_kind[index_of(kind)] = length_of(ran[index_of(kind)]);
  metrics.exposed_copy = length_of(copy - compute);
  metrics.exposed_communication = length_of(communication - compute);
  metrics.overlapped = length_of(moving & compute);
  return metrics;
}

std::vector<DeviceMetrics> metrics_of_devices(const Timeline& timeline, const Causes& causes) {
  std::vector<DeviceMetrics> devices;
  for (const Lane& lane : timeline.lanes) {
    if (std::ranges::find(devices, lane.device, &DeviceMetrics::device) != devices.end()) continue;
    devices.push_back(metrics_of_device(timeline, causes, lane.device));
  }
  return devices;
}

CriticalPath critical_path_of(const Timeline& timeline, const Causes& causes) {
  CriticalPath path;
  if (timeline.calls.empty()) return path;
  const auto last =
      std::ranges::max_element(timeline.calls, {}, [](const Call& call) { return call.ran.end; });
  std::optional<std::size_t> at = static_cast<std::size_t>(last - timeline.calls.begin());
  Nanoseconds until = last->ran.end;  // what comes after is on the path already
  while (at) {
    const Call& call = timeline.calls[*at];
    const Nanoseconds begin = std::min(call.ran.begin, until);
    path.calls.push_back(*at);
    path.of_kind[index_of(timeline.tasks[call.task].kind)] += until - begin;
    const std::optional<std::size_t> lane = causes.before_on_lane(*at);
    const std::optional<std::size_t> other = causes.dependency(*at);
    const std::optional<std::size_t> cause =
        causes.ended(other) > causes.ended(lane) ? other : lane;
    const Nanoseconds caused = std::min(causes.ended(cause), begin);
    const Nanoseconds enqueued = std::min(call.enqueued.end, begin);
    if (enqueued > caused) {  // up to there the host worked without a pause
      path.queue += begin - enqueued;
      path.host += enqueued - timeline.begin;
      break;
    }
    path.queue += begin - caused;
    until = caused;
    at = cause;
  }
  std::ranges::reverse(path.calls);
  return path;
}

double ratio(Nanoseconds part, Nanoseconds whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Nanoseconds sum(const std::vector<DeviceMetrics>& devices, Nanoseconds DeviceMetrics::*member) {
  return std::transform_reduce(devices.begin(), devices.end(), Nanoseconds{0}, std::plus<>(),
                               [&](const DeviceMetrics& device) { return device.*member; });
}

}  // namespace

Gaps& Gaps::operator+=(const Gaps& other) {
  dependency += other.dependency;
  host += other.host;
  queue += other.queue;
  return *this;
}

Nanoseconds CriticalPath::total() const {
  return std::accumulate(of_kind.begin(), of_kind.end(), host + queue);
}

double Metrics::bubble_ratio_of_total() const {
  return ratio(sum(devices, &DeviceMetrics::idle), span * static_cast<Nanoseconds>(devices.size()));
}

double Metrics::bubble_ratio_of_busy() const {
  return ratio(sum(devices, &DeviceMetrics::idle), sum(devices, &DeviceMetrics::busy));
}

Metrics metrics_of(const Timeline& timeline) {
  const Causes causes(timeline);
  return {.span = length_of(timeline),
          .devices = metrics_of_devices(timeline, causes),
          .streams_busy = streams_busy(timeline),
          .gaps = gaps_of(timeline, causes),
          .critical_path = critical_path_of(timeline, causes)};
}

}  // namespace parbench::timeline
