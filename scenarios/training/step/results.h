// What a training step yields: outputs, and checks that hold it to its definition.
#pragma once

#include "scenarios/training/step/training_step.h"

namespace parbench {

/// Adds the loss, the factor of clipping and the gradient of every parameter as outputs, of the
/// whole batch and the whole network.
void add_results(TrainingStep& step);

/// Adds checks that need no reference; they refer to the step.
void add_checks(TrainingStep& step);

}  // namespace parbench
