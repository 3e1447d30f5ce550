// Memory of a backward pass's temporaries.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/core/buffer.h"
#include "scenarios/plan/region.h"
#include "scenarios/training/program/symbolic.h"

namespace parbench {

/// Hands out memory of released activations, otherwise Space::transient.
class PassMemory {
 public:
  /// `activations`: Space::activations after the forward pass.
  explicit PassMemory(RegionPlanner activations) : activations_(std::move(activations)) {}

  [[nodiscard]] BufferView acquire(std::size_t bytes) {
    if (const auto hole = activations_.acquire_hole(bytes)) {
      return symbolic(Space::activations, *hole, bytes);
    }
    return symbolic(Space::transient, transient_.acquire(bytes), bytes);
  }
  void release(const BufferView& view) {
    (is_in(view, Space::activations) ? activations_ : transient_).release(view.offset);
  }
  /// Returns the offset in Space::activations after all memory in use.
  [[nodiscard]] std::size_t activations_end() const { return activations_.end(); }
  /// Returns the bytes of Space::transient.
  [[nodiscard]] std::size_t transient_bytes() const { return transient_.peak(); }

 private:
  RegionPlanner activations_;
  RegionPlanner transient_;
};

}  // namespace parbench
