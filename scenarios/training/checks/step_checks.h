// Checks of a training step without a reference run: parts of it are recomputed naively in double.
#pragma once

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Returns the tolerance for the gradients of a step. Gradients may be small, so it has no absolute
/// part.
[[nodiscard]] Tolerance tolerance_of_step(NumberFormat format);

/// Adds a check of the loss and the gradients of the first step after a reset:
/// - a perceptron: the loss and all gradients, by a naive network;
/// - another network: the loss from predictions and target, and sampled values of the last layer's
///   weight gradient if that layer is linear or a convolution without groups and the last stage
///   still holds the whole batch;
/// - otherwise only that there is a finite loss.
/// The checks refer to the parts, their outputs and the stages, which may also be replicas that
/// share the micro-batches. `optimizer`: determines the clipping.
void add_step_checks(CaseParts& parts, const Network& network, NumberFormat format,
                     const Stages& stages, int micro_batches, const Optimizer& optimizer);

/// Adds a check that the loss exists and is finite. Refers to the parts.
void add_loss_check(CaseParts& parts);

/// Adds a check that the last micro-batch's activations and gradients were received as they were
/// sent, for each boundary between stages with different layouts. Refers to the parts and the
/// stages.
void add_boundary_check(CaseParts& parts, const Stages& stages, int last_micro_batch);

}  // namespace parbench
