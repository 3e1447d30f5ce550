// What the session needs of something that executes plans, so that tests can do without devices.
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
};

/// How much measuring the tasks of a plan alone may take.
struct CostLimits {
  int repeats = 1;  // measurements of each cost key at most
  /// After which no further round over all keys begins; one is made in any case, and three
  /// measurements of keys that three tasks or more share.
  double budget_seconds = 0;
  std::function<bool()> interrupted = [] { return false; };  // asked before each task
};

struct TaskCosts {
  std::vector<double> seconds = {};  // of each task of the plan
  /// Wall time of rounds that executed every task once, in the order of the plan: executions of the
  /// plan, whose results are as good as any other's.
  double execution_seconds = 0;
  /// Whether operations ran many times in a row. What they accumulate (gradients, updates) is then
  /// far from what a run of the plan leaves.
  bool repeated_operations = false;
};

/// Executions of a plan in which every call was recorded.
struct Recording {
  Timeline timeline;            // of the one that took the median time
  std::vector<double> seconds;  // of each
  std::size_t kept = 0;         // the place of that one among them
  double seconds_per_call = 0;  // that recording adds to each call
};

class PlanRunner {
 public:
  virtual ~PlanRunner() = default;

  /// What precedes the first `run` of a plan that is launched as a graph, with the data filled: one
  /// execution without the graph, for all that is made at a first use, and the capture. Throws
  /// Unsupported when the plan cannot be captured, and what a worker threw.
  virtual void prepare_graph() {}

  /// Throws what a worker threw.
  virtual Timing run() = 0;

  /// What each task costs when it runs alone. Throws Interrupted, and what a worker threw.
  [[nodiscard]] virtual TaskCosts measure_tasks(const CostLimits& limits) = 0;

  /// Throws the Unsupported of `record` where its reason is known before anything runs.
  virtual void check_recording() const;

  /// Runs the plan so many times, at least once, and notes when each call was enqueued and ran; of
  /// several, each follows an execution that is not noted. Run it once before. Throws Unsupported
  /// for a device without times of its work, and what a worker threw.
  [[nodiscard]] virtual Recording record(int executions);
};

/// For a plan that is to be launched in this way, whatever its graph says.
using MakePlanRunner = std::function<std::unique_ptr<PlanRunner>(const Plan&, SubmitMode)>;

/// The real one, on bench/execution/executor.h. The plan outlives it.
[[nodiscard]] std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan, SubmitMode mode);

}  // namespace parbench
