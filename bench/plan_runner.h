// What the session needs of something that executes plans, so that tests can do without devices.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scenarios/plan.h"

namespace parbench {

/// One execution of a plan, synchronised.
struct Timing {
  double seconds = 0;       // from before the first task to after the last, on the devices
  double wall_seconds = 0;  // the same on the host: launch and synchronisation included
};

class PlanRunner {
 public:
  virtual ~PlanRunner() = default;

  /// Throws what a worker threw.
  virtual Timing run() = 0;

  /// Seconds of each task alone, at least one measurement per cost key and at most `repeats`, as
  /// long as the budget lasts.
  [[nodiscard]] virtual std::vector<double> measure_task_seconds(int repeats,
                                                                 double budget_seconds) = 0;
};

using MakePlanRunner = std::function<std::unique_ptr<PlanRunner>(const Plan&)>;

/// The real one, on bench/executor.h. The plan outlives it.
[[nodiscard]] std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan);

}  // namespace parbench
