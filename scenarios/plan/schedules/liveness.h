// Memory that micro-batches of a pipeline's stage can share: a pure function of the schedule.
#pragma once

#include <vector>

#include "scenarios/plan/schedules/schedule.h"

namespace parbench {

/// The memory slot of each micro-batch of a stage, from 0. Micro-batches share a slot only if the
/// schedule orders the last use by one before the first use by the other, so that sharing adds no
/// dependency. Empty: all micro-batches have slot 0.
using Slots = std::vector<int>;

[[nodiscard]] int slot_of(const Slots& slots, int micro_batch);
/// Returns the number of slots; 1 if empty.
[[nodiscard]] int slot_count(const Slots& slots);

/// Slots for each kind of memory of a stage. Copies are asynchronous: a copy may start as soon as
/// the pass that produces its data has ended, and is only certain to have ended when the pass that
/// waits for it starts. Kinds that a stage lacks, because it has no such neighbour, have empty
/// slots.
struct StageSlots {
  Slots activations;       // forward pass to backward pass
  Slots inputs;            // received activations: from the sender's forward pass to backward
  Slots input_gradients;   // gradients to send: from backward to the receiver's backward pass
  Slots output_gradients;  // received gradients: from the sender's backward pass to backward
  /// Received gradients that are also sent on: until the backward pass of the previous stage.
  Slots passed_gradients;
  // Activations in canonical order, between devices with different layouts. packed_outputs: to
  // send, from forward to the receiver's forward pass.
  Slots packed_outputs;  // to send: from forward to the receiver's forward pass
  Slots packed_inputs;   // received: from the sender's forward pass to forward
};

/// Returns the slots of a stage of a schedule. Throws std::logic_error if the schedule has no order
/// (see `in_dependency_order`).
[[nodiscard]] StageSlots stage_slots(const Schedule& schedule, int stage);

}  // namespace parbench
