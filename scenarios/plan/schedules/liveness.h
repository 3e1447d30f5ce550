// Which micro-batches of a pipeline's stage can share memory: a pure function of the schedule.
#pragma once

#include <vector>

#include "scenarios/plan/schedules/schedule.h"

namespace parbench {

/// The slot of memory that each micro-batch of a stage has, from 0. Micro-batches have the same
/// slot only if the schedule orders the last use of one before the first use of the other, so that
/// sharing adds no dependency. Empty: all micro-batches have slot 0.
using Slots = std::vector<int>;

[[nodiscard]] int slot_of(const Slots& slots, int micro_batch);
/// Returns how many micro-batches are held at once; 1 for empty slots.
[[nodiscard]] int slot_count(const Slots& slots);

/// Slots for each kind of memory of a stage. Copies are asynchronous: a copy may start as soon as
/// the pass that produces its data has ended, and has ended for certain only when the pass that
/// waits for it starts. Kinds that a stage does not have, for lack of a neighbour, have empty
/// slots.
struct StageSlots {
  Slots activations;       // forward pass to backward pass
  Slots inputs;            // received activations: from the sender's forward pass to backward
  Slots input_gradients;   // gradients to send: from backward to the receiver's backward pass
  Slots output_gradients;  // received gradients: from the sender's backward pass to backward
  /// Received gradients of which some are sent on from where they lie: until the backward pass of
  /// the stage before.
  Slots passed_gradients;
  // Activations in canonical order, between devices with different layouts:
  Slots packed_outputs;  // to send: from forward to the receiver's forward pass
  Slots packed_inputs;   // received: from the sender's forward pass to forward
};

/// Returns the slots of a stage of a schedule. Throws std::logic_error when the schedule has no
/// order (see `in_dependency_order`).
[[nodiscard]] StageSlots stage_slots(const Schedule& schedule, int stage);

}  // namespace parbench
