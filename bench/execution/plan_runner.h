// The session's interface to the executor of plans, which tests implement without devices.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "scenarios/framework/plan.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

/// Times of one execution of a plan, up to its synchronization.
struct Timing {
  double seconds = 0;                   // from before the first task to after the last, by events
  double wall_seconds = 0;              // by the host's clock, with launch and synchronization
  std::vector<double> rank_waits = {};  // report::Sample::rank_waits; empty in a single process
  double start_skew = 0;                // report::Sample::start_skew
};

/// Executions of a plan with a record of every call.
struct Recording {
  Timeline timeline;            // timeline of the kept execution
  std::vector<double> seconds;  // time of each execution
  std::size_t kept = 0;         // index of the kept execution
  double seconds_per_call = 0;  // overhead of recording
  double origin = 0;            // zero of the timeline's times, in seconds of the steady clock
};

class PlanRunner {
 public:
  virtual ~PlanRunner() = default;

  /// Prepares a plan that is launched as a graph, once its data is filled: executes it once without
  /// the graph, which creates everything that is created at first use, and captures it. Throws
  /// Unsupported if the plan cannot be captured, and errors of the execution.
  virtual void prepare_graph() {}

  /// Executes the plan once. Throws errors of the execution.
  virtual Timing run() = 0;

  /// Returns the seconds of each task when it runs alone. Requires an earlier run of the plan;
  /// leaves other data in its memory than a run does. Throws Interrupted, and errors of tasks.
  [[nodiscard]] virtual std::vector<double> measure_tasks(
      const std::function<bool()>& interrupted) = 0;

  /// Throws Unsupported if `record` would throw it for a reason that is known before anything runs.
  virtual void check_recording() const;

  /// Records the calls of `executions` runs, at least one. If there are several, each follows an
  /// unrecorded run. Keeps the execution whose time is closest to `typical_seconds`. Requires an
  /// earlier run of the plan. Throws Unsupported for a device that does not report times of its
  /// work, and errors of an execution.
  [[nodiscard]] virtual Recording record(int executions, double typical_seconds);
};

/// Makes a runner that submits a plan in the given mode instead of the mode of its graph.
using MakePlanRunner = std::function<std::unique_ptr<PlanRunner>(const Plan&, SubmitMode)>;

/// Makes an Executor (bench/execution/executor.h). The plan must outlive it.
[[nodiscard]] std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan, SubmitMode mode);

}  // namespace parbench
