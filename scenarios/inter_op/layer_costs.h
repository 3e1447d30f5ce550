// What the layers of a network cost on a device, alone and beside others: measured for schedules.
#pragma once

#include "scenarios/framework/context.h"
#include "scenarios/plan/schedules/inter_op.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// The layers of a network with what each reads, and its possible merges; all costs are 1.
[[nodiscard]] InterOpProblem inter_op_problem(const Network& network, int streams);

/// Sets the costs of the forward pass of a whole network on a device. They are measured once a run,
/// with the layers in their order behind a warm-up: alone on a stream that has the device, and on
/// all streams that share it, which run the same layer at once; merges alone. A join is what passes
/// between the layers where the stream with the device and those that share it take turns. A
/// context that measures nothing estimates them.
void set_costs(InterOpProblem& problem, Context& context, int device, const StageRange& whole);

}  // namespace parbench
