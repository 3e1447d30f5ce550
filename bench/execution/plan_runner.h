// The session's interface to the executor of plans, so that tests need no devices.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "scenarios/framework/plan.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

/// One execution of a plan, synchronised.
struct Timing {
  double seconds = 0;       // from before the first task to after the last, on the devices
  double wall_seconds = 0;  // the same on the host: launch and synchronisation included
  std::vector<double> rank_waits = {};  // report::Sample::rank_waits; empty in a single process
  double start_skew = 0;                // report::Sample::start_skew
};

/// Executions of a plan in which every call was recorded.
struct Recording {
  Timeline timeline;            // of the execution that is kept
  std::vector<double> seconds;  // of each
  std::size_t kept = 0;         // its index in `seconds`
  double seconds_per_call = 0;  // overhead of recording
  double origin = 0;  // from which the timeline's times count, in seconds of the steady clock
};

class PlanRunner {
 public:
  virtual ~PlanRunner() = default;

  /// Prepares the first `run` of a plan that is launched as a graph, with the data filled: executes
  /// it once without the graph, for everything that is created at first use, and captures it.
  /// Throws Unsupported when the plan cannot be captured, and what a worker threw.
  virtual void prepare_graph() {}

  /// Throws what a worker threw.
  virtual Timing run() = 0;

  /// Measures what each task costs alone. Returns the seconds of each task. Run the plan once
  /// before; the data is not what a run leaves. Throws Interrupted, and what a worker threw.
  [[nodiscard]] virtual std::vector<double> measure_tasks(
      const std::function<bool()>& interrupted) = 0;

  /// Throws the Unsupported of `record` if its reason is known before anything runs.
  virtual void check_recording() const;

  /// Runs the plan so many times, at least once, and notes when each call was enqueued and ran; of
  /// several, each follows an execution that is not noted. Keeps the execution whose time is
  /// nearest to `typical_seconds`. Run the plan once before. Throws Unsupported for a device
  /// without times of its work, and what a worker threw.
  [[nodiscard]] virtual Recording record(int executions, double typical_seconds);
};

/// Makes a runner that submits a plan in the given mode instead of the mode of its graph.
using MakePlanRunner = std::function<std::unique_ptr<PlanRunner>(const Plan&, SubmitMode)>;

/// Makes an Executor (bench/execution/executor.h). The plan must outlive it.
[[nodiscard]] std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan, SubmitMode mode);

}  // namespace parbench
