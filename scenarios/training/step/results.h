// Results of a training step: outputs, and checks against its definition.
#pragma once

#include <optional>

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/training_step.h"

namespace parbench {

/// Adds the loss, the clip factor and the gradient of every parameter as outputs, for the whole
/// batch and the whole network. `elsewhere`: the updated parameters and the sums of gradients, if
/// they are not in the stages.
void add_results(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere);

/// Adds the checks that need no results of another case. Keeps a reference to the step.
void add_checks(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere);

}  // namespace parbench
