// Gradients that are added on the first device, which alone updates the parameters.
#pragma once

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Adds what follows the passes in a step of TensorFlow's towers and PaddleFluid's parallel_do:
/// gradients are added on the first device, clipped and applied there, and parameters copied back.
void write_tower(StepTasks& tasks);

/// Adds a step of torch.nn.DataParallel: parameters and samples go out from the first device,
/// predictions come back to it, the loss is computed there, its gradient goes out, the gradients of
/// parameters come back, and they are applied there.
void write_replicate(StepTasks& tasks);

}  // namespace parbench
