// Symbolic memory without an address: a stage's program is written once per micro-batch size, and
// bound for every micro-batch of that size.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "scenarios/framework/plan.h"

namespace parbench {

/// The base of a symbolic view.
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
  activations,  // per slot of micro-batches: written by forward, read by backward
  transient,    // shared by all micro-batches: unused at the end of a task
};
inline constexpr std::size_t space_count = static_cast<std::size_t>(Space::transient) + 1;

/// Returns a view relative to a space. It can be bound to operations and checked like other views;
/// `rebase` replaces it by memory.
[[nodiscard]] BufferView symbolic(Space space, std::size_t offset, std::size_t bytes);

/// Position at which the shards of a divided network combine `data`: before the call with index
/// `call`, or after all calls.
struct ExchangePoint {
  std::size_t call = 0;
  Collective collective = Collective::all_reduce;
  BufferView data;
};

/// Returns whether a view is relative to the space.
[[nodiscard]] bool is_in(const BufferView& view, Space space);

/// Beginning of each space, for one micro-batch.
using Bases = std::array<BufferView, space_count>;

/// Returns the view on memory relative to `bases`; other views are unchanged.
[[nodiscard]] BufferView rebase(const BufferView& view, const Bases& bases);

/// Returns the calls on memory relative to `bases`; views that are not symbolic are unchanged.
[[nodiscard]] std::vector<Call> rebase(const std::vector<OpCall>& calls, const Bases& bases);

}  // namespace parbench
