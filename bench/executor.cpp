// Implementation of the plan executor.
#include "bench/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include "bench/task_costs.h"
#include "kernels/crossing.h"
#include "kernels/error.h"

namespace parbench {
namespace {

constexpr LaneId all_lanes = -1;

void check_one_backend(const Plan& plan) {
  const DeviceInfo& first = plan.lanes().front().stream->device().info();
  for (const Lane& lane : plan.lanes()) {
    const DeviceInfo& other = lane.stream->device().info();
    if (other.backend == first.backend) continue;
    throw Unsupported(
        fmt::format("a graph holds work of one backend; this plan runs on {} and {}, leave out "
                    "--graph",
                    first.name, other.name));
  }
}

/// The thread that runs the plan records where it begins and ends, so that a device that one thread
/// at a time can use has no thread for its lane, not even for a single one.
void check_launching_threads(const Plan& plan) {
  for (const Lane& lane : plan.lanes()) {
    const Device& device = lane.stream->device();
    if (!device.one_launching_thread()) continue;
    throw Unsupported(fmt::format(
        "a launching thread for every lane: {} can be used by one host thread at a time; run the "
        "strategy on whole devices",
        device.info().name));
  }
}

}  // namespace

void enqueue(const Call& call, Stream& stream) {
  if (const auto* op = std::get_if<OpCall>(&call)) {
    op->op->enqueue(stream, op->views);
  } else {
    const auto& copy = std::get<CopyCall>(call);
    stream.copy(copy.destination, copy.source);
  }
}

Executor::Executor(const Plan& plan, Launch launch)
    : plan_(plan), launch_(launch), enqueued_(plan.tasks().size()) {
  if (plan.lanes().empty()) throw std::invalid_argument("a plan needs a lane");
  if (launch == Launch::graph) check_one_backend(plan);
  if (launch == Launch::thread_per_lane) check_launching_threads(plan);
  find_steps();
  make_events();
  if (launch == Launch::thread_per_lane) {
    launchers_ = std::make_unique<Launchers>(static_cast<int>(plan.lanes().size()),
                                             [this](int lane) { launch_lane(lane); });
  }
}

void Executor::find_steps() {
  const std::vector<Task>& tasks = plan_.tasks();
  steps_.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    steps_[i].task = &tasks[i];
    steps_[i].range = &range_of(tasks[i]);
    std::map<LaneId, TaskId> latest;  // order within a lane makes the others redundant
    for (const TaskId before : tasks[i].after) {
      const LaneId lane = tasks[static_cast<std::size_t>(before)].lane;
      if (lane == tasks[i].lane) continue;
      TaskId& last = latest.try_emplace(lane, before).first->second;
      last = std::max(last, before);
    }
    for (const auto& [lane, before] : latest) steps_[i].waits.push_back(before);
  }
}

void Executor::make_events() {
  std::vector<Device*> devices;  // of the lanes
  for (const Lane& lane : plan_.lanes()) devices.push_back(&lane.stream->device());
  Device& first = *devices.front();
  begin_ = make_event_for(first, devices, EventKind::timing);
  end_ = first.make_event(EventKind::timing);
  if (launch_ == Launch::graph) fork_ = first.make_event(EventKind::ordering);
  for (std::size_t lane = 1; lane < devices.size(); ++lane) {
    joins_.push_back(
        make_event_for(*devices[lane], std::span(devices).first(1), EventKind::ordering));
  }
  const auto device_of = [&](const Step& step) {
    return devices[static_cast<std::size_t>(step.task->lane)];
  };
  std::map<TaskId, std::vector<Device*>> waiters;
  for (const Step& step : steps_) {
    for (const TaskId before : step.waits) waiters[before].push_back(device_of(step));
  }
  for (const auto& [task, waiting] : waiters) {
    Step& producer = steps_[static_cast<std::size_t>(task)];
    events_.push_back(make_event_for(*device_of(producer), waiting, EventKind::ordering));
    producer.done = events_.back().get();
  }
}

const RangeName& Executor::range_of(const Task& task) {
  const std::string& name = task.cost_key.empty() ? task.name : task.cost_key;
  return ranges_.try_emplace(name, name).first->second;
}

std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan, Launch launch) {
  return std::make_unique<Executor>(plan, launch);
}

Timing Executor::run() {
  if (launch_ != Launch::graph) return run_without_graph();
  find_memory();
  if (!graph_ || memory_ != captured_memory_) capture();
  return timed([this] {
    const Range range(launch_range_, static_cast<std::int64_t>(steps_.size()));
    graph_->launch();
  });
}

void Executor::prepare_graph() {
  (void)run_without_graph();
  find_memory();
  capture();
}

void Executor::capture() {
  const Range range(capture_range_, static_cast<std::int64_t>(steps_.size()));
  graph_.reset();  // both at once would hold twice the memory
  Stream& first = *plan_.lanes().front().stream;
  graph_ = first.capture([&] {
    first.record(*fork_);
    between_fork_and_join(*fork_, [this] {
      for (std::size_t i = 0; i < steps_.size(); ++i) capture_step(i);
    });
  });
  captured_memory_ = memory_;
  first.synchronize();  // the graph may still be on its way to the device
}

/// The plan has run before, so what fails here fails because of the capture.
void Executor::capture_step(std::size_t index) {
  try {
    enqueue_step(index);
  } catch (const DeviceLost&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    throw Unsupported(
        fmt::format("task '{}' cannot be captured into a graph: {}; run the case without one",
                    steps_[index].task->name, error.what()));
  }
}

/// A graph holds addresses, and arenas and scratch memory that grow for a later case may move.
/// Scratch memory tells that by its size.
void Executor::find_memory() {
  memory_.clear();
  const auto add = [this](const BufferView& view) {
    memory_.push_back(reinterpret_cast<std::uintptr_t>(view.data()));
  };
  for (const Task& task : plan_.tasks()) {
    for (const Call& call : task.calls) {
      if (const auto* op = std::get_if<OpCall>(&call)) {
        std::ranges::for_each(op->views, add);
      } else {
        const auto& copy = std::get<CopyCall>(call);
        add(copy.destination);
        add(copy.source);
      }
    }
  }
  for (const Lane& lane : plan_.lanes()) memory_.push_back(lane.stream->scratch_bytes());
}

Timing Executor::run_without_graph() {
  return timed([this] {
    between_fork_and_join(*begin_, [this] {
      if (launchers_) {
        launchers_->run();
      } else {
        enqueue_steps(all_lanes);
      }
    });
  });
}

template <class Enqueue>
void Executor::between_fork_and_join(Event& fork, const Enqueue& enqueue_tasks) {
  const std::vector<Lane>& lanes = plan_.lanes();
  Stream& first = *lanes.front().stream;
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) lanes[lane].stream->wait(fork);
  enqueue_tasks();
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
    lanes[lane].stream->record(*joins_[lane - 1]);
    first.wait(*joins_[lane - 1]);
  }
}

template <class Enqueue>
Timing Executor::timed(const Enqueue& enqueue_all) {
  Stream& first = *plan_.lanes().front().stream;
  ++run_;
  const auto wall_begin = std::chrono::steady_clock::now();
  try {
    first.record(*begin_);
    enqueue_all();
    first.record(*end_);
  } catch (...) {
    try {
      synchronize_lanes();
    } catch (const TimedOut&) {
      throw;
    } catch (const DeviceLost&) {
      throw;         // says more than what failed first because of it
    } catch (...) {  // NOLINT(bugprone-empty-catch): what failed first is what the caller must see
    }
    throw;
  }
  synchronize_lanes();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_begin;
  return {.seconds = end_->seconds_since(*begin_), .wall_seconds = wall.count()};
}

void Executor::enqueue_steps(LaneId only_lane) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (only_lane == all_lanes || steps_[i].task->lane == only_lane) enqueue_step(i);
  }
}

void Executor::launch_lane(LaneId lane) {
  try {
    enqueue_steps(lane);
  } catch (...) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].task->lane == lane) mark_enqueued(i);  // the others must not wait for ever
    }
    throw;
  }
}

void Executor::mark_enqueued(std::size_t index) {
  enqueued_[index].store(run_, std::memory_order_release);
  enqueued_[index].notify_all();
}

void Executor::enqueue_step(std::size_t index) {
  const Step& step = steps_[index];
  Stream& stream = *plan_.lanes()[static_cast<std::size_t>(step.task->lane)].stream;
  for (const TaskId before : step.waits) {
    if (launchers_) wait_until_enqueued(before);
    stream.wait(*steps_[static_cast<std::size_t>(before)].done);
  }
  {
    const Range range(*step.range, static_cast<std::int64_t>(index));
    for (const Call& call : step.task->calls) enqueue(call, stream);
  }
  if (step.done != nullptr) stream.record(*step.done);
  if (launchers_) mark_enqueued(index);
}

void Executor::wait_until_enqueued(TaskId task) {
  std::atomic<std::uint32_t>& mark = enqueued_[static_cast<std::size_t>(task)];
  for (std::uint32_t seen = mark.load(std::memory_order_acquire); seen != run_;
       seen = mark.load(std::memory_order_acquire)) {
    mark.wait(seen, std::memory_order_acquire);
  }
}

void Executor::synchronize_lanes() {
  synchronize_all(plan_.lanes(), [](const Lane& lane) -> Stream& { return *lane.stream; });
}

TaskCosts Executor::measure_tasks(const CostLimits& limits) {
  return measure_task_costs(plan_, limits);
}

}  // namespace parbench
