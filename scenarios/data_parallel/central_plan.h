// Gradients that are added on the first device, which alone updates the parameters.
#pragma once

#include "scenarios/data_parallel/replicas.h"

namespace parbench {

/// Adds a step of TensorFlow's towers and PaddleFluid's parallel_do: the loss on each device,
/// gradients added on the first one, clipped and applied there, and parameters copied back.
void plan_tower(DataParallelParts& parts);

/// Adds a step of torch.nn.DataParallel: parameters and samples go out from the first device,
/// predictions come back to it, the loss is computed there, its gradient goes out, the gradients of
/// parameters come back, and they are applied there.
void plan_replicate(DataParallelParts& parts);

}  // namespace parbench
