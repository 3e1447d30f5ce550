// Runs plans: enqueues tasks on their lanes with events where dependencies cross, and times them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

/// Prepares a plan for repeated execution. The plan and its streams outlive the executor. A run
/// allocates nothing once the streams' queues have grown to the plan's size (the first run does
/// that).
///
/// Of a plan over ranks it executes the tasks on lanes of this process. What ranks wait for in each
/// other are messages, which are calls of tasks; a rank without lanes takes no time.
class Executor final : public PlanRunner {
 public:
  explicit Executor(const Plan& plan) : Executor(plan, plan.graph().submit) {}
  Executor(const Plan& plan, SubmitMode mode);

  void prepare_graph() override;
  /// The two parts of it, of which the first executes the plan and the second does not.
  Timing run_without_graph();
  void capture_graph();

  /// Executes the plan once and waits for it. Throws the first exception of a worker after all
  /// lanes have come to rest, so that the next run starts clean. A graph is captured before time
  /// starts where there is none yet, or the plan's memory has moved since.
  Timing run() override;

  [[nodiscard]] std::vector<double> measure_tasks(
      const std::function<bool()>& interrupted) override;

  void check_recording() const override;
  [[nodiscard]] Recording record(int executions, double typical_seconds) override;

 private:
  /// A task on one of its lanes, by its place among them.
  struct Part {
    TaskId task = 0;
    std::size_t place = 0;
  };
  /// What the host does for one task. By the places of the task's lanes:
  struct Step {
    const Task* task = nullptr;
    const std::vector<Call>* calls = nullptr;
    std::vector<Stream*> streams;
    std::vector<std::vector<Part>> waits;  // for other lanes, at most the latest of each
    std::vector<Event*> done;              // recorded after the task, if another lane waits for it
    const RangeName* range = nullptr;
    std::optional<LaneId> launching_lane;  // the first one of this process; none: nothing to do
  };

  [[nodiscard]] bool is_local(LaneId lane) const;
  void find_steps();
  void find_waits(Step& step) const;
  void make_events();
  /// Runs what enqueues the plan between two timing events and waits for the lanes.
  template <class Enqueue>
  Timing timed(const Enqueue& enqueue_all);
  /// Enqueues tasks on lanes that all begin after `fork`, which the first has recorded, and are all
  /// joined by it.
  template <class Enqueue>
  void between_fork_and_join(Event& fork, const Enqueue& enqueue_tasks);
  void capture();
  void capture_step(std::size_t index);
  void find_memory();
  /// Tasks that cost the same share a name, so that a tool can group them; the payload of a range
  /// is the task's place in the plan.
  [[nodiscard]] const RangeName& range_of(const Task& task);
  void enqueue_steps(LaneId only_lane);
  void enqueue_step(std::size_t index);
  void enqueue_calls(std::size_t index);
  void launch_lane(LaneId lane);
  void mark_enqueued(std::size_t index);
  void wait_until_enqueued(TaskId task);
  void synchronize_lanes();

  const Plan& plan_;
  SubmitMode mode_;
  std::vector<Stream*> streams_;  // of the lanes of this process
  std::vector<Step> steps_;
  std::vector<const Communicator*> communicators_;  // of the plan
  std::map<std::string, RangeName> ranges_;
  std::vector<std::unique_ptr<Event>> events_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  std::vector<std::unique_ptr<Event>> joins_;  // one per lane of this process but the first
  /// Run in which each task was last enqueued: a launching thread may only wait for a record that
  /// has been enqueued already.
  std::vector<std::atomic<std::uint32_t>> enqueued_;
  std::uint32_t run_ = 0;
  CallTags tags_;
  CallRecorder* recorder_ = nullptr;      // while runs are recorded
  std::optional<TaskTimer> task_timer_;   // from the first measurement on
  std::unique_ptr<Launchers> launchers_;  // only with SubmitMode::thread_per_lane

  // Only with SubmitMode::graph.
  RangeName capture_range_{"capture"};  // payloads: the number of tasks
  RangeName launch_range_{"graph"};
  std::unique_ptr<Event> fork_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::uintptr_t> memory_;           // where the plan's memory is, as found last
  std::vector<std::uintptr_t> captured_memory_;  // where it was at the capture
};

}  // namespace parbench
