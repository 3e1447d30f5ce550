// Calls on memory without an address: a stage's program is written once per micro-batch size, and
// bound for every micro-batch of that size.
#pragma once

#include <array>
#include <cstddef>
#include <variant>
#include <vector>

#include "scenarios/framework/op_set.h"

namespace parbench {

/// Memory of a stage to which a symbolic view is relative.
enum class Space {
  input,            // the micro-batch's samples, or the previous stage's output
  input_gradient,   // gradient for the previous stage
  output_gradient,  // gradient from the next stage
  target,           // the micro-batch's part of the target (last stage)
  loss,
  parameters,   // master copies, f32, one flat region
  gradients,    // the same offsets as parameters
  packed,       // copies of parameters in layouts or types that operations prefer
  statistics,   // running statistics of batch normalisations
  activations,  // one for each slot of micro-batches: written by forward, read by backward
  transient,    // temporary memory of a task, shared by all micro-batches
};
inline constexpr std::size_t space_count = static_cast<std::size_t>(Space::transient) + 1;

/// A range of a space, or of memory that does not depend on the micro-batch.
struct SymbolicView {
  std::variant<const Buffer*, Space> base;  // default: no memory
  std::size_t offset = 0;
  std::size_t bytes = 0;

  SymbolicView() = default;
  SymbolicView(Space space, std::size_t first, std::size_t count)
      : base(space), offset(first), bytes(count) {}
  /// Implicit, because writers of programs accept memory whose address is known.
  SymbolicView(const BufferView& memory)
      : base(memory.buffer), offset(memory.offset), bytes(memory.bytes) {}

  [[nodiscard]] bool is_in(Space space) const { return base == decltype(base)(space); }
  [[nodiscard]] SymbolicView part(std::size_t first, std::size_t count) const {
    SymbolicView view = *this;
    view.offset += first;
    view.bytes = count;
    return view;
  }
};

/// An operation whose arguments have no addresses yet, so that no plan accepts it.
using SymbolicCall = CallOf<SymbolicView>;
using SymbolicBinding = BindingOf<SymbolicView>;

/// Memory of each space for one micro-batch.
using Bases = std::array<BufferView, space_count>;

/// Return the view or the calls with the memory of `bases` in place of spaces. Throw
/// std::logic_error for a view with bytes in a space without memory.
[[nodiscard]] BufferView rebase(const SymbolicView& view, const Bases& bases);
[[nodiscard]] OpCall rebase(const SymbolicCall& call, const Bases& bases);
[[nodiscard]] std::vector<Call> rebase(const std::vector<SymbolicCall>& calls, const Bases& bases);

}  // namespace parbench
