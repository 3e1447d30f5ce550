// Memory of a backward pass's temporaries.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/core/buffer.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/plan/region.h"

namespace parbench {

/// Allocator that uses holes in Space::activations where a temporary fits, otherwise
/// Space::transient.
class PassMemory {
 public:
  /// `activations`: Space::activations after the forward pass.
  explicit PassMemory(RegionPlanner activations) : activations_(std::move(activations)) {}

  [[nodiscard]] SymbolicView acquire(std::size_t bytes) {
    if (const auto hole = activations_.acquire_hole(bytes)) {
      return {Space::activations, *hole, bytes};
    }
    return {Space::transient, transient_.acquire(bytes), bytes};
  }
  void release(const SymbolicView& view) {
    (view.is_in(Space::activations) ? activations_ : transient_).release(view.offset);
  }
  /// Returns the offset in Space::activations after all memory in use.
  [[nodiscard]] std::size_t activations_end() const { return activations_.end(); }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_.peak(); }

 private:
  RegionPlanner activations_;
  RegionPlanner transient_;
};

}  // namespace parbench
