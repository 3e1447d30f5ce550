// Rounds over the cost keys of a plan; short tasks are gathered until they can be timed.
#include "bench/execution/task_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/execution/clock.h"
#include "bench/execution/interrupt.h"
#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "kernels/core/device.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr double short_task_seconds = 1e-3;
constexpr double gathered_seconds = 200e-6;
constexpr double max_executions = 2000;
/// The first estimate of a short task holds the wake-up of its lane, so its count is approached.
constexpr int max_estimates = 4;

/// All tasks that cost the same, by the first of them.
struct CostGroup {
  TaskId task = 0;
  int tasks = 0;     // of the plan
  int gathered = 0;  // executions in one measurement of a short task; 0: a long one
  std::vector<double> seconds;

  /// An error of one measurement counts as often as there are tasks, and a further measurement
  /// takes the less of the plan's time the more there are: from three tasks on, two more are made
  /// to outvote one that was disturbed.
  [[nodiscard]] bool wants_more() const { return seconds.size() < (tasks < 3 ? 1U : 3U); }
};

/// Whether repeating the task changes data: a copy does not, an all-reduce for one does.
bool has_operations(const std::vector<Call>& calls) {
  return std::ranges::any_of(
      calls, [](const Call& call) { return !std::holds_alternative<CopyCall>(call); });
}

/// Times what is enqueued on the lanes of one task: from the first lane's coming to it, which the
/// others wait for, until all have done it.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Stream*> streams) : streams_(std::move(streams)) {
    std::vector<Device*> devices;
    for (Stream* stream : streams_) devices.push_back(&stream->device());
    begin_ = make_event_for(*devices.front(), devices, EventKind::timing);
    end_ = devices.front()->make_event(EventKind::timing);
    for (std::size_t i = 1; i < devices.size(); ++i) {
      joins_.push_back(
          make_event_for(*devices[i], std::span(devices).first(1), EventKind::ordering));
    }
  }

  [[nodiscard]] std::span<Stream* const> streams() const { return streams_; }

  template <class Lead, class Enqueue>
  double time(const Lead& lead, const Enqueue& timed) {
    Stream& first = *streams_.front();
    lead();
    first.record(*begin_);
    for (std::size_t i = 1; i < streams_.size(); ++i) streams_[i]->wait(*begin_);
    timed();
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      streams_[i]->record(*joins_[i - 1]);
      first.wait(*joins_[i - 1]);
    }
    first.record(*end_);
    synchronize();
    return end_->seconds_since(*begin_);
  }

 private:
  void synchronize() {
    try {
      synchronize_all(streams_, [](Stream* stream) -> Stream& { return *stream; });
    } catch (const TimedOut&) {  // the streams will still record them
      static_cast<void>(begin_.release());
      static_cast<void>(end_.release());
      for (auto& join : joins_) static_cast<void>(join.release());
      throw;
    }
  }

  std::vector<Stream*> streams_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  std::vector<std::unique_ptr<Event>> joins_;  // one per stream but the first
};

class TaskTimer {
 public:
  TaskTimer(const Plan& plan, const CostLimits& limits) : plan_(plan), limits_(limits) {
    std::map<std::pair<LaneId, std::string>, std::size_t> known;
    const std::vector<Task>& tasks = plan.graph().tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      std::size_t index = groups_.size();
      if (!task.cost_key.empty()) {
        index = known.try_emplace({task.lanes.front(), task.cost_key}, index).first->second;
      }
      if (index == groups_.size()) {
        groups_.push_back({.task = static_cast<TaskId>(i), .seconds = {}});
      }
      ++groups_[index].tasks;
      group_of_.push_back(index);
    }
  }

  TaskCosts operator()() {
    const double begin = steady_seconds();
    for (int round = 0; round < limits_.repeats; ++round) {
      const double round_begin = steady_seconds();
      const bool in_budget = round == 0 || round_begin - begin < limits_.budget_seconds;
      if (!in_budget && std::ranges::none_of(groups_, &CostGroup::wants_more)) break;
      for (CostGroup& group : groups_) {
        if (in_budget || group.wants_more()) measure(group);
      }
      if (executes_plan()) costs_.execution_seconds += steady_seconds() - round_begin;
    }
    for (const std::size_t index : group_of_) {
      costs_.seconds.push_back(median(groups_[index].seconds));
    }
    return std::move(costs_);
  }

 private:
  /// Whether a round executes every task of the plan once, in the plan's order.
  [[nodiscard]] bool executes_plan() const {
    return groups_.size() == plan_.graph().tasks.size() &&
           std::ranges::all_of(groups_, [](const CostGroup& group) { return group.gathered == 0; });
  }

  void measure(CostGroup& group) {
    if (limits_.interrupted()) throw Interrupted();
    const double seconds = group.gathered > 0 ? time_gathered(group) : time(group.task, 0, 1);
    if (is_too_short(group, seconds)) {
      group.seconds = {gather(group, seconds)};  // what took longer before was disturbed
    } else {
      group.seconds.push_back(seconds);
    }
  }

  /// Whether a measurement that came to so many seconds an execution was too short to be trusted.
  static bool is_too_short(const CostGroup& group, double seconds) {
    if (group.gathered == 0) return seconds < short_task_seconds;
    return group.gathered < max_executions && seconds * group.gathered < gathered_seconds / 2;
  }

  /// Finds how many executions of a short task make a measurement; returns the last one.
  double gather(CostGroup& group, double seconds) {
    if (has_operations(plan_.calls(group.task))) costs_.repeated_operations = true;
    int estimates = 0;
    do {
      const double wanted = std::ceil(gathered_seconds / std::max(seconds, 1e-9));
      group.gathered = static_cast<int>(std::clamp(wanted, 1.0, max_executions));
      seconds = time_gathered(group);
    } while (is_too_short(group, seconds) && ++estimates < max_estimates);
    return seconds;
  }

  /// The host enqueues what is timed while the lane works on as many executions that are not.
  double time_gathered(const CostGroup& group) {
    return time(group.task, group.gathered, group.gathered) / group.gathered;
  }

  /// Seconds of `executions` of a task after `lead` others.
  double time(TaskId task, int lead, int executions) {
    const std::vector<Call>& calls = plan_.calls(task);
    Stopwatch stopwatch(plan_.streams_of(plan_.graph().task(task)));
    return stopwatch.time([&] { repeat(calls, lead, stopwatch.streams()); },
                          [&] { repeat(calls, executions, stopwatch.streams()); });
  }

  static void repeat(const std::vector<Call>& calls, int times, std::span<Stream* const> streams) {
    for (int i = 0; i < times; ++i) {
      for (const Call& call : calls) enqueue(call, streams);
    }
  }

  const Plan& plan_;
  const CostLimits& limits_;
  std::vector<CostGroup> groups_;
  std::vector<std::size_t> group_of_;  // of each task
  TaskCosts costs_;
};

}  // namespace

TaskCosts measure_task_costs(const Plan& plan, const CostLimits& limits) {
  return TaskTimer(plan, limits)();
}

}  // namespace parbench
