// Converts the logs of streams to a timeline.
#include "bench/execution/call_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <variant>

#include "kernels/core/device.h"
#include "kernels/core/ranks/remote_device.h"

namespace parbench {
namespace {

Nanoseconds since(CallRecorder::Clock::time_point begin, CallRecorder::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time - begin).count();
}

std::string name_of_call(const Call& call) {
  if (const auto* op = std::get_if<OpCall>(&call)) return op->op->name();
  if (const auto* collective = std::get_if<CollectiveCall>(&call)) {
    return std::string(name_of(collective->collective));
  }
  return "copy";
}

/// Returns the shapes of an operation's tensors with their roles.
std::string tensors_of(const Op& op) {
  std::vector<std::string> tensors;
  for (const Argument& argument : op.arguments()) {
    if (is_opaque(argument.tensor.layout)) continue;
    tensors.push_back(fmt::format("{} {}", argument.role, to_string(argument.tensor.shape)));
  }
  return fmt::format("{}", fmt::join(tensors, ", "));
}

/// Returns the number of calls on each local stream, the capacity that its log needs.
std::map<Stream*, std::size_t> calls_of_streams(const Plan& plan) {
  std::map<Stream*, std::size_t> counts;
  for (std::size_t i = 0; i < plan.calls().size(); ++i) {
    for (Stream* stream : plan.streams_of(plan.graph().tasks[i])) {
      if (!is_remote(*stream)) counts[stream] += plan.calls()[i].size();
    }
  }
  return counts;
}

struct CallIndex {
  TaskId task = 0;
  std::size_t call = 0;
};

std::vector<CallIndex> indices_of(const Plan& plan) {
  std::vector<CallIndex> indices{{}};  // tag 0 belongs to no call
  for (std::size_t task = 0; task < plan.calls().size(); ++task) {
    for (std::size_t call = 0; call < plan.calls()[task].size(); ++call) {
      indices.push_back({static_cast<TaskId>(task), call});
    }
  }
  return indices;
}

LaneId lane_on(const Plan& plan, const Task& task, const Stream* stream) {
  for (const LaneId lane : task.lanes) {
    if (&plan.stream(lane) == stream) return lane;
  }
  return task.lanes.front();
}

}  // namespace

CallTags::CallTags(const Plan& plan) {
  for (const std::vector<Call>& calls : plan.calls()) {
    firsts_.push_back(static_cast<ActivityTag>(count_ + 1));
    count_ += calls.size();
  }
}

CallRecorder::CallRecorder(const Plan& plan, SubmitMode mode, const CallTags& tags)
    : plan_(plan), mode_(mode), enqueued_(tags.count() + 1) {
  for (const auto& [stream, calls] : calls_of_streams(plan)) {
    logs_->push_back(StreamLog{stream, ActivityLog(calls)});
  }
  try {
    for (StreamLog& log : *logs_) log.stream->log_activities(&log.log);
  } catch (...) {
    end_logging();  // the logs are destroyed, and some streams refer to them
    throw;
  }
}

CallRecorder::~CallRecorder() { end_logging(); }

void CallRecorder::end_logging() {
  if (!logs_) return;
  for (const StreamLog& log : *logs_) log.stream->log_activities(nullptr);
}

void CallRecorder::abandon() { static_cast<void>(logs_.release()); }

void CallRecorder::begin() {
  for (StreamLog& log : *logs_) log.log.clear();
  begin_ = Clock::now();
}

void CallRecorder::enqueued(ActivityTag tag, Clock::time_point since) {
  enqueued_[tag] = {since, Clock::now()};
}

void CallRecorder::launched(Clock::time_point since) {
  std::ranges::fill(enqueued_, Enqueued{since, Clock::now()});
}

Timeline CallRecorder::timeline(double seconds) const {
  Timeline result;
  result.graph = plan_.graph();
  result.graph.submit = mode_;
  for (const StreamLog& log : *logs_) add_calls(log, result);
  std::ranges::stable_sort(result.calls, {}, [](const TimedCall& call) { return call.ran.begin; });
  for (const TimedCall& call : result.calls) result.end = std::max(result.end, call.ran.end);
  if (!result.calls.empty()) {
    const Nanoseconds measured = nanoseconds_of(seconds);
    const Nanoseconds first = result.calls.front().ran.begin;
    // Another device's clock may show a begin slightly before that of the host.
    result.begin = std::clamp(result.end - measured, std::min<Nanoseconds>(0, first), first);
  }
  return result;
}

std::size_t CallRecorder::dropped() const {
  std::size_t count = 0;
  for (const StreamLog& log : *logs_) count += log.log.dropped();
  return count;
}

void CallRecorder::add_calls(const StreamLog& log, Timeline& timeline) const {
  const std::vector<CallIndex> indices = indices_of(plan_);
  for (const Activity& activity : log.log.activities()) {
    if (activity.tag >= indices.size()) continue;  // belongs to another plan
    const CallIndex& at = indices[activity.tag];
    const Task& task = plan_.graph().task(at.task);
    const Call& call = plan_.calls(at.task)[at.call];
    const LaneId lane = lane_on(plan_, task, log.stream);
    const Enqueued& enqueued = enqueued_[activity.tag];
    timeline.calls.push_back(
        {.task = at.task,
         .lane = lane,
         .name = name_of_call(call),
         .enqueued = {since(begin_, enqueued.begin), since(begin_, enqueued.end)},
         .ran = {since(begin_, activity.begin), since(begin_, activity.end)},
         .work = lane == task.lanes.front() ? work_of(call) : Work{}});
    const auto* op = std::get_if<OpCall>(&call);
    if (op == nullptr) continue;
    TimedCall& timed = timeline.calls.back();
    timed.layer = op->layer;
    timed.tensors = tensors_of(*op->op);
    timed.kernel = op->op->implementation();
    timed.reference = op->op->is_reference();
    timed.team_waiting = activity.team_waiting.count();
  }
  timeline.clock_error = std::max(timeline.clock_error,
                                  static_cast<Nanoseconds>(std::ceil(log.log.clock_error * 1e9)));
}

double logging_cost() {
  constexpr int repeats = 1000;
  ActivityLog log(repeats);
  const auto begin = CallRecorder::Clock::now();
  for (int i = 0; i < repeats; ++i) {
    const auto call_begin = CallRecorder::Clock::now();
    log.add({.tag = 1, .begin = call_begin, .end = CallRecorder::Clock::now()});
  }
  const std::chrono::duration<double> taken = CallRecorder::Clock::now() - begin;
  return taken.count() / repeats;
}

}  // namespace parbench
