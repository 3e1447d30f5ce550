// What a training step yields: outputs, and checks that hold it to its definition.
#pragma once

#include <optional>

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/training_step.h"

namespace parbench {

/// Adds the loss, the factor of clipping and the gradient of every parameter as outputs, of the
/// whole batch and the whole network. `elsewhere`: the updated parameters and the sums of
/// gradients, if they do not lie in the stages.
void add_results(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere);

/// Adds checks that need no reference; they refer to the step.
void add_checks(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere);

}  // namespace parbench
