// ZeRO: the optimiser's state, gradients and parameters divided over devices.
#pragma once

#include "scenarios/data_parallel/replicas.h"
#include "scenarios/data_parallel/shards.h"

namespace parbench {

/// Adds replicas, a step, outputs and checks. Every device updates its block of each bucket. In
/// stage 1 gradients are all-reduced, from stage 2 on reduce-scattered; up to stage 2 the updated
/// parameters are all-gathered. In stage 3 each device copies the blocks of others shortly before
/// it needs them, in either pass. There are several devices.
void plan_sharded(DataParallelParts& parts, const ShardingSettings& settings,
                  const Optimizer& optimizer);

}  // namespace parbench
