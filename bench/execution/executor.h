// Executes plans: enqueues tasks on lanes, orders them across lanes by events, and times them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/execution/call_recorder.h"
#include "bench/execution/launchers.h"
#include "bench/execution/plan_runner.h"
#include "bench/execution/ranges.h"
#include "bench/execution/task_costs.h"
#include "kernels/core/device.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// Error of a recording whose execution has ended, but whose timeline would lack calls.
class RecordsMissing final : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// Prepares a plan for repeated execution. The plan and its streams must outlive the executor. A
/// run allocates nothing once the first run has grown the streams' queues to the plan's size.
///
/// For a plan over ranks, the executor runs the tasks on lanes of this process. Ranks wait for each
/// other through messages, which are calls of tasks. A rank without lanes reports a time of 0.
class Executor final : public PlanRunner {
 public:
  explicit Executor(const Plan& plan) : Executor(plan, plan.graph().submit) {}
  Executor(const Plan& plan, SubmitMode mode);

  void prepare_graph() override;
  /// The two parts of prepare_graph: the first executes the plan, the second captures it.
  Timing run_without_graph();
  void capture_graph();

  /// Executes the plan once and waits for it. If enqueuing or a stream fails, waits for all lanes,
  /// so that the plan can be run again, and throws the first error, or TimedOut or DeviceLost if
  /// the wait fails. In mode `graph`, first captures a graph if none exists or the plan's memory
  /// has moved.
  Timing run() override;

  [[nodiscard]] std::vector<double> measure_tasks(
      const std::function<bool()>& interrupted) override;

  void check_recording() const override;
  /// Lets all streams log for a moment. Throws the Unsupported of one that cannot.
  void try_recording() const { const CallRecorder tried(plan_, mode_, tags_); }
  [[nodiscard]] Recording record(int executions, double typical_seconds) override;

 private:
  /// A task on one of its lanes; `lane_index` is the lane's index among those of the task.
  struct Part {
    TaskId task = 0;
    std::size_t lane_index = 0;
  };
  /// The host's work for one task. `streams`, `waits` and `done` are indexed like the task's lanes.
  struct PreparedTask {
    const Task* task = nullptr;
    const std::vector<Call>* calls = nullptr;
    std::vector<Stream*> streams;
    std::vector<std::vector<Part>> waits;  // tasks of other lanes; at most the latest of each
    std::vector<Event*> done;              // events after the task; null: no lane waits
    const RangeName* range = nullptr;
    std::optional<LaneId> launching_lane;  // first lane of this process; empty: other ranks run it
  };

  [[nodiscard]] bool is_local(LaneId lane) const;
  void prepare_tasks();
  void find_waits(PreparedTask& prepared) const;
  void make_events();
  /// Calls a function that enqueues the plan between two timing events, and waits for the lanes.
  template <class Enqueue>
  Timing timed(const Enqueue& enqueue_all);
  /// Makes the other lanes wait for `fork`, which the first lane has recorded, enqueues tasks, and
  /// makes the first lane wait for the other lanes.
  template <class Enqueue>
  void between_fork_and_join(Event& fork, const Enqueue& enqueue_tasks);
  void capture();
  void capture_task(std::size_t index);
  void find_memory();
  /// Returns the range of a task. Tasks with the same cost key share a name, so that tools can
  /// group them; the payload of a range is the task's index in the plan.
  [[nodiscard]] const RangeName& range_of(const Task& task);
  void enqueue_tasks(LaneId only_lane);
  void enqueue_task(std::size_t index);
  void enqueue_calls(std::size_t index);
  void launch_lane(LaneId lane);
  void mark_enqueued(std::size_t index);
  void wait_until_enqueued(TaskId task);
  void synchronize_lanes();

  const Plan& plan_;
  SubmitMode mode_;
  std::vector<Stream*> streams_;  // streams of this process's lanes
  std::vector<PreparedTask> prepared_;
  std::vector<const Communicator*> communicators_;  // used by the plan
  std::map<std::string, RangeName> ranges_;
  std::vector<std::unique_ptr<Event>> events_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  std::vector<std::unique_ptr<Event>> joins_;  // one for each local lane except the first
  /// The run in which each task was last enqueued. A launching thread may wait only for events that
  /// have been recorded.
  std::vector<std::atomic<std::uint32_t>> enqueued_;
  std::uint32_t run_ = 0;
  CallTags tags_;
  CallRecorder* recorder_ = nullptr;      // set while runs are recorded
  std::optional<TaskTimer> task_timer_;   // made by the first measurement
  std::unique_ptr<Launchers> launchers_;  // only for SubmitMode::thread_per_lane

  // Only for SubmitMode::graph.
  RangeName capture_range_{"capture"};  // payload: number of tasks
  RangeName launch_range_{"graph"};
  std::unique_ptr<Event> fork_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::uintptr_t> memory_;           // addresses of the plan's memory
  std::vector<std::uintptr_t> captured_memory_;  // addresses at the capture
};

}  // namespace parbench
