// Exchanges in which not every replica updates all parameters; they require replicas of one stage
// and one shard. Functions that store results outside of the stages return where these are.
#pragma once

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/pass_writer.h"

namespace parbench {

/// Adds the tasks after the passes of a step, as with towers (TensorFlow) or parallel_do
/// (PaddleFluid): gradients are added, clipped and applied on the first device, and parameters are
/// copied back.
void write_tower(StepTasks& tasks);

/// Adds a step as with torch.nn.DataParallel. The first device sends parameters and samples,
/// receives predictions, and computes the loss; it sends the gradients of the predictions, receives
/// gradients of parameters, and applies them.
void write_replicate(StepTasks& tasks);

/// Adds the tasks after the passes of a step with a synchronous parameter server, which keeps
/// parameters and the optimiser's state: workers push their gradients; the server adds and clips
/// them and updates the parameters; workers pull the parameters.
[[nodiscard]] UpdatedParameters write_server(StepTasks& tasks);

/// Adds a whole step of ZeRO, in which every device updates its block of each bucket. With ZeRO 1
/// gradients are all-reduced, from ZeRO 2 on reduce-scattered. Up to ZeRO 2 the updated parameters
/// are all-gathered. With ZeRO 3 each device copies all blocks of a bucket into its pool shortly
/// before it needs them, in both passes.
[[nodiscard]] UpdatedParameters write_zero(StepTasks& tasks, PassWriter& passes);

}  // namespace parbench
