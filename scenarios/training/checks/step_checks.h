// Checks of a training step that do not need the results of another case: parts of the step are
// recomputed naively in double.
#pragma once

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Returns the tolerance for the outputs of a step. The tolerance is only relative, because
/// gradients may be small.
[[nodiscard]] Tolerance tolerance_of_step(NumberFormat format);

/// Adds a check of the loss and the gradients of the first step after a reset:
/// - for a small perceptron, of the loss and all gradients, by a naive network;
/// - for another network whose last stage keeps the activations of the whole batch, of the loss,
///   and of sampled values of the last layer's weight gradient, if that layer is linear or a
///   convolution without groups and has parameters of its own;
/// - otherwise, that the loss is finite and positive.
/// The check keeps references to the parts, the network and the stages, which may be those of
/// several replicas. `optimizer`: determines the clip factor.
void add_step_checks(CaseParts& parts, const Network& network, NumberFormat format,
                     const Stages& stages, int micro_batches, const Optimizer& optimizer);

/// Adds a check that the loss is finite and positive. Keeps a reference to the parts.
void add_loss_check(CaseParts& parts);

/// Adds a check for each tensor that has different layouts on the two sides of a boundary: the last
/// micro-batch's activations and gradients were received as sent. Keeps a reference to the parts.
void add_boundary_check(CaseParts& parts, const Stages& stages, int last_micro_batch);

}  // namespace parbench
