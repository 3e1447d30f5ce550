// Slots of memory that micro-batches of a pipeline's stage share: a pure function of the schedule.
#pragma once

#include <vector>

#include "scenarios/plan/schedules/schedule.h"

namespace parbench {

/// The memory slot of each micro-batch of a stage, from 0. Two micro-batches share a slot only if
/// the schedule already ends the use by one before the use by the other begins, so that sharing
/// adds no dependency. Empty: all micro-batches have slot 0.
using Slots = std::vector<int>;

[[nodiscard]] int slot_of(const Slots& slots, int micro_batch);
/// Returns the number of slots; 1 if empty.
[[nodiscard]] int slot_count(const Slots& slots);

/// Slots for each kind of memory of a stage. The comments give the time during which memory is in
/// use. Copies are asynchronous: a copy may start as soon as the pass that produces its data has
/// ended, and is only certain to have ended when the pass that waits for it starts. Kinds for a
/// neighbour that the stage does not have are empty.
struct StageSlots {
  Slots activations;       // from the stage's forward to its backward pass
  Slots inputs;            // received: from the sender's forward to the stage's backward pass
  Slots input_gradients;   // to send: from the stage's to the receiver's backward pass
  Slots output_gradients;  // received: from the sender's to the stage's backward pass
  /// Received gradients that are forwarded: from the next stage's to the previous stage's backward
  /// pass.
  Slots passed_gradients;
  // Activations in canonical order, for neighbours whose devices have other layouts.
  Slots packed_outputs;  // to send: from the stage's to the receiver's forward pass
  Slots packed_inputs;   // received: from the sender's to the stage's forward pass
};

/// Returns the slots of a stage of a schedule. Throws std::logic_error if the schedule has no order
/// (see `in_dependency_order`).
[[nodiscard]] StageSlots stage_slots(const Schedule& schedule, int stage);

}  // namespace parbench
