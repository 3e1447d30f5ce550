// The plan of a pipelined training step: stages, copies between them, and the update.
#pragma once

#include <memory>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/plan/schedules/schedule.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Adds lanes and tasks of one training step to the parts' plan: forward and backward of every
/// micro-batch in the schedule's order, a copy wherever a micro-batch crosses a boundary, and one
/// update a stage, ahead of which the stages exchange the gradients of parameters that two of them
/// have, and their parts of the norm where gradients are clipped. A copy runs on the copy lane of
/// the sender, or of the receiver where only that reaches the other's memory. Between devices with
/// different layouts of activations what is sent lies in canonical order: the sender's task ends
/// with a reorder, the receiver's begins with one. `micro_batches` holds the samples of each
/// micro-batch; stages are on different devices.
void add_training_step(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
                       const std::vector<std::int64_t>& micro_batches, const Schedule& schedule);

}  // namespace parbench
