// Measures tasks in rounds over the lanes; short tasks are repeated.
#include "bench/execution/task_costs.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "bench/execution/interrupt.h"
#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "kernels/core/device.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

/// Duration to which short tasks are repeated: GPU events have a resolution of 0.5 µs, and
/// recording one takes longer.
constexpr double timed_seconds = 100e-6;
/// Minimum time of a first measurement that counts; a shorter one may consist mostly of the wake-up
/// of the lane.
constexpr double trusted_seconds = 1e-3;
constexpr double max_repeats = 2000;
constexpr int max_estimates = 4;  // estimates of the repeats of a task
/// Number of tasks with the same cost key that are measured. The median of three tolerates one
/// disturbed measurement; repeating one task would warm the caches.
constexpr int measured_alike = 3;
/// Group of the tasks that run only because measured tasks need their results.
constexpr std::size_t untimed = 0;

}  // namespace

/// Tasks that share their measurements: tasks of a lane with the same cost key, or one task without
/// a key.
struct TaskTimer::Group {
  int tasks = 0;
  bool runs_once = false;
  int repeats = 1;  // executions in one measurement
  bool is_estimated = false;
  std::vector<double> seconds;  // measurements of this round

  [[nodiscard]] bool is_too_short(double one) const {
    if (runs_once) return false;
    if (!is_estimated) return one < trusted_seconds;
    return repeats < static_cast<int>(max_repeats) && one * repeats < timed_seconds / 2;
  }
  void estimate(double one) {
    const double wanted = std::ceil(timed_seconds / std::max(one, 1e-9));
    repeats = static_cast<int>(std::clamp(wanted, 1.0, max_repeats));
    is_estimated = true;
    seconds.clear();  // measured with fewer repeats
  }
};

/// Tasks that are measured back to back on the same lanes.
class TaskTimer::Segment {
 public:
  /// `is_over_ranks`: the lanes belong to several ranks; this process may have none of them.
  Segment(std::vector<Stream*> streams, bool is_over_ranks)
      : all_streams_(std::move(streams)),
        streams_(local_streams(all_streams_)),
        is_over_ranks_(is_over_ranks) {
    for (Stream* stream : streams_) devices_.push_back(&stream->device());
    for (std::size_t i = 1; i < devices_.size(); ++i) {
      joins_.push_back(
          make_event_for(*devices_[i], std::span(devices_).first(1), EventKind::ordering));
    }
    if (!streams_.empty()) add_event();
  }

  void add(const std::vector<Call>& calls, std::size_t group) {
    parts_.push_back({&calls, group});
    if (!streams_.empty()) add_event();
  }

  [[nodiscard]] bool is_over_ranks() const { return is_over_ranks_; }
  [[nodiscard]] bool has_lanes(const std::vector<Stream*>& streams) const {
    return !is_over_ranks_ && all_streams_ == streams;
  }

  struct Part {
    const std::vector<Call>* calls = nullptr;
    std::size_t group = 0;
  };
  /// Returns the tasks that the round still has to measure.
  [[nodiscard]] const std::vector<Part>& open() const { return open_; }
  void open_all() { open_ = parts_; }
  void close_all_but(const std::map<std::size_t, double>& groups) {
    std::erase_if(open_, [&](const Part& part) { return !groups.contains(part.group); });
  }

  /// Appends the seconds of one execution of each open task.
  void time(const std::vector<Group>& groups, std::vector<double>& seconds) {
    if (open_.empty()) return;
    const std::vector<double> own = time(open_, groups);
    seconds.insert(seconds.end(), own.begin(), own.end());
  }

 private:
  void add_event() {
    ends_.push_back(make_event_for(*devices_.front(), devices_, EventKind::timing));
  }

  /// Returns the seconds of one execution of each task. A short first task runs in advance, so that
  /// the host can enqueue the others meanwhile.
  std::vector<double> time(const std::vector<Part>& parts, const std::vector<Group>& groups) {
    if (streams_.empty()) return std::vector<double>(parts.size());
    const Group& first = groups[parts.front().group];
    // The ranks start at different times; the first execution absorbs this wait.
    if (first.repeats > 1 || is_over_ranks_) repeat(*parts.front().calls, first.repeats);
    record(*ends_.front());
    for (std::size_t i = 1; i < streams_.size(); ++i) streams_[i]->wait(*ends_.front());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      repeat(*parts[i].calls, groups[parts[i].group].repeats);
      record(*ends_[i + 1]);
    }
    synchronize();
    std::vector<double> seconds;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      seconds.push_back(ends_[i + 1]->seconds_since(*ends_[i]) / groups[parts[i].group].repeats);
    }
    return seconds;
  }

  void repeat(const std::vector<Call>& calls, int times) {
    for (int i = 0; i < times; ++i) {
      for (const Call& call : calls) enqueue(call, all_streams_);
    }
  }

  /// Records on the first lane once all lanes have reached this point.
  void record(Event& event) {
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      streams_[i]->record(*joins_[i - 1]);
      streams_.front()->wait(*joins_[i - 1]);
    }
    streams_.front()->record(event);
  }

  void synchronize() {
    try {
      synchronize_all(streams_, [](Stream* stream) -> Stream& { return *stream; });
    } catch (const TimedOut&) {  // streams will still record the events
      for (auto& event : ends_) static_cast<void>(event.release());
      for (auto& event : joins_) static_cast<void>(event.release());
      throw;
    }
  }

  std::vector<Stream*> all_streams_;
  std::vector<Stream*> streams_;  // streams of this process
  bool is_over_ranks_;
  std::vector<Device*> devices_;
  std::vector<Part> parts_;
  std::vector<Part> open_ = {};
  std::vector<std::unique_ptr<Event>> ends_;   // one for the beginning and one for each part
  std::vector<std::unique_ptr<Event>> joins_;  // one per stream except the first
};

TaskTimer::TaskTimer(const Plan& plan) : plan_(plan) {
  groups_.push_back({.runs_once = true, .seconds = {}});  // group `untimed`
  is_added_.resize(plan.graph().tasks.size());
  std::map<std::pair<LaneId, std::string>, std::size_t> known;
  const std::vector<Task>& tasks = plan.graph().tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::size_t index = groups_.size();
    if (!tasks[i].cost_key.empty()) {
      index = known.try_emplace({tasks[i].lanes.front(), tasks[i].cost_key}, index).first->second;
    }
    if (index == groups_.size()) {
      groups_.push_back(
          {.runs_once = tasks[i].phase == "backward" || tasks[i].phase == "update", .seconds = {}});
    }
    group_of_.push_back(index);
    if (groups_[index].tasks++ >= measured_alike) continue;
    const auto id = static_cast<TaskId>(i);
    for (const TaskId before : passes_before(id)) {
      if (!is_added_[static_cast<std::size_t>(before)]) add(before, untimed);
    }
    add(id, index);
  }
}

TaskTimer::~TaskTimer() = default;

bool TaskTimer::is_over_ranks(const Task& task) const {
  return std::ranges::any_of(task.lanes, [&](LaneId lane) {
    return plan_.rank_of(lane) != plan_.rank_of(task.lanes.front());
  });
}

/// Returns the passes that a backward pass needs, in the order of the plan: its forward pass and
/// the earlier parts of the backward pass. Returns none for other tasks.
std::vector<TaskId> TaskTimer::passes_before(TaskId id) const {
  const Task& task = plan_.graph().task(id);
  std::vector<TaskId> found;
  if (task.phase != "backward") return found;
  bool follows_forward = true;
  for (TaskId other = id - 1; other >= 0; --other) {
    const Task& before = plan_.graph().task(other);
    if (before.lanes != task.lanes || before.micro_batch != task.micro_batch) continue;
    if (before.phase == "forward") follows_forward = false;
    if (before.phase == "backward" && !follows_forward) break;
    if (before.phase == "forward" || before.phase == "backward") found.insert(found.begin(), other);
  }
  return found;
}

void TaskTimer::add(TaskId id, std::size_t group) {
  is_added_[static_cast<std::size_t>(id)] = true;
  const Task& task = plan_.graph().task(id);
  const std::vector<Stream*> streams = plan_.streams_of(task);
  const bool over_ranks = is_over_ranks(task);
  if (!over_ranks && is_remote(*streams.front())) return;
  const auto found = std::ranges::find_if(
      segments_, [&](const auto& segment) { return segment->has_lanes(streams); });
  const bool is_new = found == segments_.end() || streams.size() > 1;
  Segment& segment =
      is_new ? *segments_.emplace_back(std::make_unique<Segment>(streams, over_ranks)) : **found;
  segment.add(plan_.calls(id), group);
}

/// Measures until the measurement of every task is long enough for the clock, or `max_estimates` is
/// reached. Segments over ranks are measured together, so that ranks exchange their times once for
/// all of them.
void TaskTimer::measure(const std::vector<Segment*>& segments,
                        const std::function<bool()>& interrupted) {
  for (Segment* segment : segments) segment->open_all();
  const auto is_open = [](const Segment* segment) { return !segment->open().empty(); };
  for (int estimate = 0; std::ranges::any_of(segments, is_open); ++estimate) {
    if (interrupted()) throw Interrupted();
    std::vector<double> seconds;
    for (Segment* segment : segments) segment->time(groups_, seconds);
    if (segments.front()->is_over_ranks()) seconds = plan_.ranks()->largest(std::move(seconds));
    const std::map<std::size_t, double> too_short = estimate < max_estimates
                                                        ? too_short_groups(segments, seconds)
                                                        : std::map<std::size_t, double>();
    auto one = seconds.begin();
    for (Segment* segment : segments) {
      for (const Segment::Part& part : segment->open()) {
        if (!too_short.contains(part.group)) groups_[part.group].seconds.push_back(*one);
        ++one;
      }
      segment->close_all_but(too_short);
    }
    for (const auto& [group, latest] : too_short) groups_[group].estimate(latest);
  }
}

/// Returns the groups whose tasks are too short for the clock, with the latest of their times.
std::map<std::size_t, double> TaskTimer::too_short_groups(
    const std::vector<Segment*>& segments, const std::vector<double>& seconds) const {
  std::map<std::size_t, double> too_short;
  auto one = seconds.begin();
  for (const Segment* segment : segments) {
    for (const Segment::Part& part : segment->open()) {
      if (groups_[part.group].is_too_short(*one)) too_short[part.group] = *one;
      ++one;
    }
  }
  return too_short;
}

std::vector<double> TaskTimer::measure(const std::function<bool()>& interrupted) {
  for (Group& group : groups_) group.seconds.clear();
  std::vector<Segment*> over_ranks;
  for (const auto& segment : segments_) {
    if (segment->is_over_ranks()) {
      over_ranks.push_back(segment.get());
    } else {
      measure({segment.get()}, interrupted);
    }
  }
  measure(over_ranks, interrupted);
  std::vector<double> seconds;
  for (const std::size_t index : group_of_) {
    const std::vector<double>& measured = groups_[index].seconds;
    seconds.push_back(measured.empty() ? 0 : median(measured));
  }
  return seconds;
}

}  // namespace parbench
