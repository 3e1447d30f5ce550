// ZeRO: the optimiser's state, gradients and parameters are sharded over devices.
#pragma once

#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/pass_writer.h"

namespace parbench {

/// Adds a step in which every device updates its block of each bucket. With ZeRO 1 gradients are
/// all-reduced, from ZeRO 2 on reduce-scattered. Up to ZeRO 2 the updated parameters are
/// all-gathered. With ZeRO 3 each device copies the blocks of others shortly before it needs them,
/// in both passes. Requires several replicas of one stage each. Returns where the results are.
[[nodiscard]] UpdatedParameters write_zero(StepTasks& tasks, PassWriter& passes);

}  // namespace parbench
