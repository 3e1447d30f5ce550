// Exchanges in which the first device adds gradients and updates the parameters.
#pragma once

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds the tasks after the passes in a step of TensorFlow's towers and PaddleFluid's parallel_do:
/// gradients are added on the first device, clipped and applied there, and parameters are copied
/// back.
void write_tower(StepTasks& tasks);

/// Adds a step of torch.nn.DataParallel. The first device sends parameters and samples, receives
/// predictions, and computes the loss; it sends the loss's gradient, receives gradients of
/// parameters, and applies them.
void write_replicate(StepTasks& tasks);

}  // namespace parbench
