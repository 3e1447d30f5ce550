// Writes the plan of a training step.
#pragma once

#include <optional>

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/gradient_sums.h"
#include "scenarios/training/step/pass_writer.h"
#include "scenarios/training/step/shared_gradients.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds packing, passes, the exchange of the replicas and the updates of a step, in the order in
/// which the host submits them.
class StepWriter {
 public:
  explicit StepWriter(TrainingStep& step)
      : step_(step), tasks_(step), passes_(tasks_), shared_(tasks_), sums_(tasks_) {}

  /// Adds all tasks. Returns where the updated parameters are, if they are not in the stages.
  [[nodiscard]] std::optional<UpdatedParameters> write();

 private:
  void write_passes();
  void write_updates();

  TrainingStep& step_;
  StepTasks tasks_;
  PassWriter passes_;
  SharedGradients shared_;
  GradientSums sums_;
};

}  // namespace parbench
