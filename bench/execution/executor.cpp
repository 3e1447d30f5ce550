#include "bench/execution/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr LaneId all_lanes = -1;

/// Throws for tasks with several lanes of this process, because the members of a collective must be
/// launched together.
void check_one_lane_a_task(const Plan& plan) {
  for (const Task& task : plan.graph().tasks) {
    if (local_streams(plan.streams_of(task)).size() <= 1) continue;
    throw std::invalid_argument(
        fmt::format("task {} has several lanes, which cannot be launched by one thread per lane; "
                    "submit the plan by one thread or as a graph",
                    task.name));
  }
}

std::vector<const Communicator*> communicators_of(const Plan& plan) {
  std::vector<const Communicator*> found;
  for (const std::vector<Call>& calls : plan.calls()) {
    for (const Call& call : calls) {
      const auto* collective = std::get_if<CollectiveCall>(&call);
      if (collective == nullptr) continue;
      const Communicator* communicator = collective->communicator;
      if (std::ranges::find(found, communicator) == found.end()) found.push_back(communicator);
    }
  }
  return found;
}

}  // namespace

Executor::Executor(const Plan& plan, SubmitMode mode)
    : plan_(plan),
      mode_(mode),
      streams_(local_streams(plan.streams())),
      communicators_(communicators_of(plan)),
      enqueued_(plan.graph().tasks.size()),
      tags_(plan) {
  if (plan.streams().empty()) throw std::invalid_argument("a plan needs a lane");
  if (mode == SubmitMode::thread_per_lane) check_one_lane_a_task(plan);
  prepare_tasks();
  make_events();
  if (mode == SubmitMode::thread_per_lane) {
    launchers_ = std::make_unique<Launchers>(static_cast<int>(plan.streams().size()),
                                             [this](int lane) { launch_lane(lane); });
  }
}

bool Executor::is_local(LaneId lane) const { return !is_remote(plan_.stream(lane)); }

void Executor::prepare_tasks() {
  const std::vector<Task>& tasks = plan_.graph().tasks;
  prepared_.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    PreparedTask& prepared = prepared_[i];
    const auto local =
        std::ranges::find_if(tasks[i].lanes, [this](LaneId lane) { return is_local(lane); });
    if (local == tasks[i].lanes.end()) continue;  // other ranks execute it
    prepared.launching_lane = *local;
    prepared.task = &tasks[i];
    prepared.range = &range_of(tasks[i]);
    prepared.calls = &plan_.calls()[i];
    prepared.streams = plan_.streams_of(tasks[i]);
    prepared.done.resize(prepared.streams.size());
    find_waits(prepared);
  }
}

void Executor::find_waits(PreparedTask& prepared) const {
  const std::vector<LaneId>& lanes = prepared.task->lanes;
  std::map<LaneId, Part> latest;  // the latest task of a lane implies the earlier ones
  for (const TaskId before : prepared.task->after) {
    const std::vector<LaneId>& others = plan_.graph().task(before).lanes;
    if (others == lanes) continue;  // the tasks are ordered on each lane
    for (std::size_t lane_index = 0; lane_index < others.size(); ++lane_index) {
      if (!is_local(others[lane_index])) continue;  // a message between ranks orders them
      Part& last = latest.try_emplace(others[lane_index], Part{before, lane_index}).first->second;
      if (before > last.task) last = {before, lane_index};
    }
  }
  for (const LaneId lane : lanes) {
    std::vector<Part>& waits = prepared.waits.emplace_back();
    if (!is_local(lane)) continue;
    for (const auto& [other, part] : latest) {
      if (other != lane) waits.push_back(part);
    }
  }
}

void Executor::make_events() {
  std::vector<Device*> devices;  // devices of the lanes
  for (Stream* stream : streams_) devices.push_back(&stream->device());
  if (devices.empty()) return;
  Device& first = *devices.front();
  begin_ = make_event_for(first, devices, EventKind::timing);
  end_ = first.make_event(EventKind::timing);
  if (mode_ == SubmitMode::graph) fork_ = first.make_event(EventKind::ordering);
  for (std::size_t lane = 1; lane < devices.size(); ++lane) {
    joins_.push_back(
        make_event_for(*devices[lane], std::span(devices).first(1), EventKind::ordering));
  }
  std::map<std::pair<TaskId, std::size_t>, std::vector<Device*>> waiters;
  for (const PreparedTask& prepared : prepared_) {
    for (std::size_t lane_index = 0; lane_index < prepared.streams.size(); ++lane_index) {
      for (const Part& before : prepared.waits[lane_index]) {
        waiters[{before.task, before.lane_index}].push_back(
            &prepared.streams[lane_index]->device());
      }
    }
  }
  for (const auto& [part, waiting] : waiters) {
    PreparedTask& producer = prepared_[static_cast<std::size_t>(part.first)];
    Device& recorder = producer.streams[part.second]->device();
    events_.push_back(make_event_for(recorder, waiting, EventKind::ordering));
    producer.done[part.second] = events_.back().get();
  }
}

const RangeName& Executor::range_of(const Task& task) {
  const std::string& name = task.cost_key.empty() ? task.name : task.cost_key;
  return ranges_.try_emplace(name, name).first->second;
}

void PlanRunner::check_recording() const {
  throw Unsupported("this runner does not record its calls");
}

Recording PlanRunner::record(int /*executions*/, double /*typical_seconds*/) {
  check_recording();
  return {};
}

std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan, SubmitMode mode) {
  return std::make_unique<Executor>(plan, mode);
}

Timing Executor::run() {
  if (mode_ != SubmitMode::graph || streams_.empty()) return run_without_graph();
  find_memory();
  if (!graph_ || memory_ != captured_memory_) capture();
  return timed([this] {
    const Range range(launch_range_, static_cast<std::int64_t>(prepared_.size()));
    const auto since = CallRecorder::Clock::now();
    graph_->launch();
    if (recorder_ != nullptr) recorder_->launched(since);
  });
}

void Executor::prepare_graph() {
  (void)run_without_graph();
  capture_graph();
}

void Executor::capture_graph() {
  if (streams_.empty()) return;
  find_memory();
  capture();
}

void Executor::capture() {
  const Range range(capture_range_, static_cast<std::int64_t>(prepared_.size()));
  graph_.reset();  // frees its memory before the next capture allocates as much
  Stream& first = *streams_.front();
  graph_ = first.capture([&] {
    first.record(*fork_);
    between_fork_and_join(*fork_, [this] {
      for (std::size_t i = 0; i < prepared_.size(); ++i) {
        if (prepared_[i].launching_lane) capture_task(i);
      }
    });
  });
  captured_memory_ = memory_;
  first.synchronize();  // upload of the graph may still be in progress
}

/// Reports errors of a capture as Unsupported, except DeviceLost and OutOfMemory: the plan has run
/// without a graph, so the capture is the cause.
void Executor::capture_task(std::size_t index) {
  try {
    enqueue_task(index);
  } catch (const DeviceLost&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    throw Unsupported(
        fmt::format("task '{}' cannot be captured into a graph: {}; run the case without one",
                    prepared_[index].task->name, error.what()));
  }
}

/// Lists the addresses that a graph captures and that may change later: arenas and scratch memory
/// may move when they grow, or fail to grow, for another case. For scratch memory, lists the number
/// of moves instead of the address.
void Executor::find_memory() {
  memory_.clear();
  const auto add = [this](const BufferView& view) {
    memory_.push_back(reinterpret_cast<std::uintptr_t>(view.data()));
  };
  for (const std::vector<Call>& calls : plan_.calls()) {
    for (const Call& call : calls) {
      if (const auto* op = std::get_if<OpCall>(&call)) {
        std::ranges::for_each(op->views, add);
      } else if (const auto* copy = std::get_if<CopyCall>(&call)) {
        add(copy->destination);
        add(copy->source);
      } else {
        const auto& collective = std::get<CollectiveCall>(call);
        std::ranges::for_each(collective.data, add);
        std::ranges::for_each(collective.inputs, add);
      }
    }
  }
  for (const Stream* stream : streams_) memory_.push_back(stream->scratch_moves());
}

Timing Executor::run_without_graph() {
  return timed([this] {
    between_fork_and_join(*begin_, [this] {
      if (launchers_) {
        launchers_->run();
      } else {
        enqueue_tasks(all_lanes);
      }
    });
  });
}

template <class Enqueue>
void Executor::between_fork_and_join(Event& fork, const Enqueue& enqueue_tasks) {
  Stream& first = *streams_.front();
  for (std::size_t lane = 1; lane < streams_.size(); ++lane) streams_[lane]->wait(fork);
  enqueue_tasks();
  for (std::size_t lane = 1; lane < streams_.size(); ++lane) {
    streams_[lane]->record(*joins_[lane - 1]);
    first.wait(*joins_[lane - 1]);
  }
}

template <class Enqueue>
Timing Executor::timed(const Enqueue& enqueue_all) {
  if (streams_.empty()) {
    if (plan_.start() != nullptr) plan_.start()->run();
    return {};
  }
  Stream& first = *streams_.front();
  ++run_;
  if (recorder_ != nullptr) recorder_->begin();
  const auto wall_begin = std::chrono::steady_clock::now();
  try {
    if (plan_.start() != nullptr) first.perform(*plan_.start());
    first.record(*begin_);
    enqueue_all();
    first.record(*end_);
  } catch (...) {
    try {
      synchronize_lanes();
    } catch (const TimedOut&) {
      throw;
    } catch (const DeviceLost&) {
      throw;         // explains the first error
    } catch (...) {  // NOLINT(bugprone-empty-catch): the caller needs the first error
    }
    throw;
  }
  synchronize_lanes();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_begin;
  for (const Communicator* communicator : communicators_) communicator->check();
  return {.seconds = end_->seconds_since(*begin_), .wall_seconds = wall.count()};
}

void Executor::enqueue_tasks(LaneId only_lane) {
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    const std::optional<LaneId>& lane = prepared_[i].launching_lane;
    if (lane && (only_lane == all_lanes || *lane == only_lane)) enqueue_task(i);
  }
}

void Executor::launch_lane(LaneId lane) {
  try {
    enqueue_tasks(lane);
  } catch (...) {
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      if (prepared_[i].launching_lane == lane)
        mark_enqueued(i);  // so that other lanes do not wait indefinitely
    }
    throw;
  }
}

void Executor::mark_enqueued(std::size_t index) {
  enqueued_[index].store(run_, std::memory_order_release);
  enqueued_[index].notify_all();
}

void Executor::enqueue_task(std::size_t index) {
  const PreparedTask& prepared = prepared_[index];
  for (std::size_t lane_index = 0; lane_index < prepared.streams.size(); ++lane_index) {
    for (const Part& before : prepared.waits[lane_index]) {
      if (launchers_) wait_until_enqueued(before.task);
      prepared.streams[lane_index]->wait(
          *prepared_[static_cast<std::size_t>(before.task)].done[before.lane_index]);
    }
  }
  enqueue_calls(index);
  for (std::size_t lane_index = 0; lane_index < prepared.streams.size(); ++lane_index) {
    if (prepared.done[lane_index] != nullptr)
      prepared.streams[lane_index]->record(*prepared.done[lane_index]);
  }
  if (launchers_) mark_enqueued(index);
}

void Executor::enqueue_calls(std::size_t index) {
  const PreparedTask& prepared = prepared_[index];
  const Range range(*prepared.range, static_cast<std::int64_t>(index));
  for (std::size_t call = 0; call < prepared.calls->size(); ++call) {
    const ActivityTag tag = tags_.of(static_cast<TaskId>(index), call);
    for (Stream* stream : prepared.streams) stream->set_tag(tag);
    if (recorder_ == nullptr) {
      enqueue((*prepared.calls)[call], prepared.streams);
    } else {
      const auto since = CallRecorder::Clock::now();
      enqueue((*prepared.calls)[call], prepared.streams);
      recorder_->enqueued(tag, since);
    }
  }
  // Later calls on these streams may belong to other plans.
  for (Stream* stream : prepared.streams) stream->set_tag(0);
}

void Executor::wait_until_enqueued(TaskId task) {
  std::atomic<std::uint32_t>& mark = enqueued_[static_cast<std::size_t>(task)];
  for (std::uint32_t seen = mark.load(std::memory_order_acquire); seen != run_;
       seen = mark.load(std::memory_order_acquire)) {
    mark.wait(seen, std::memory_order_acquire);
  }
}

void Executor::synchronize_lanes() {
  synchronize_all(streams_, [](Stream* stream) -> Stream& { return *stream; });
}

std::vector<double> Executor::measure_tasks(const std::function<bool()>& interrupted) {
  if (!task_timer_) task_timer_.emplace(plan_);
  return task_timer_->measure(interrupted);
}

void Executor::check_recording() const {
  for (Stream* stream : streams_) stream->check_activities();
}

Recording Executor::record(int executions, double typical_seconds) {
  CallRecorder recorder(plan_, mode_, tags_);
  struct Recorded {
    CallRecorder*& recorder;
    ~Recorded() { recorder = nullptr; }
  };
  const Recorded recorded{recorder_ = &recorder};
  graph_.reset();  // devices may log only calls of graphs captured while logging
  Recording recording;
  recording.seconds_per_call = logging_cost();
  std::vector<Timeline> timelines;
  std::vector<std::size_t> dropped;
  std::vector<double> origins;
  try {
    for (int i = 0; i < std::max(1, executions); ++i) {
      // An unrecorded run makes conditions like those of samples, which follow each other directly:
      // making the previous timeline has cooled the caches and let threads sleep.
      if (executions > 1) (void)run();
      recording.seconds.push_back(run().seconds);
      timelines.push_back(recorder.timeline(recording.seconds.back()));
      dropped.push_back(recorder.dropped());
      origins.push_back(recorder.begin_seconds());
    }
  } catch (const TimedOut&) {
    recorder.abandon();
    throw;
  }
  recording.kept = nearest_index(recording.seconds, typical_seconds);
  recording.timeline = std::move(timelines[recording.kept]);
  recording.origin = origins[recording.kept];
  if (dropped[recording.kept] > 0) {
    throw RecordsMissing(fmt::format("{} records of calls are missing or belong to no call",
                                     dropped[recording.kept]));
  }
  return recording;
}

}  // namespace parbench
