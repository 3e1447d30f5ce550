// Measured costs of a network's layers on a device, alone and beside others, for schedules.
#pragma once

#include "scenarios/framework/context.h"
#include "scenarios/plan/schedules/inter_op.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// Returns the layers of a network with the layers that each reads, and the possible merges. All
/// costs are 1; a join costs nothing.
[[nodiscard]] InterOpProblem inter_op_problem(const Network& network, int streams);

/// Sets the costs of a whole network's forward pass on a device. They are measured once per run for
/// each network, format, batch and number of streams, layer by layer, after a warm-up: each layer
/// alone on a stream with the whole device, and on all streams that share the device, which run the
/// same layer at the same time. Merges are measured alone. The cost of a join is the median of two
/// kinds of time: from the end of a layer on the stream with the whole device to the beginning of
/// that layer on the sharing streams, and from the end there to the beginning of the next layer on
/// the whole device. If the context does not measure, the costs are estimates.
void set_costs(InterOpProblem& problem, Context& context, int device, const StageRange& whole);

}  // namespace parbench
