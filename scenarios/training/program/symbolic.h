// Memory that has no address yet: a stage's program is written once for a micro-batch size and
// bound for every micro-batch of that size.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "scenarios/framework/plan.h"

namespace parbench {

/// What a symbolic view is relative to.
enum class Space {
  input,            // the micro-batch's samples, or the output that the stage before sent
  input_gradient,   // what goes back to the stage before
  output_gradient,  // what comes back from the stage behind
  target,           // the micro-batch's part of the target (last stage)
  loss,
  parameters,   // master copies, f32, one flat region
  gradients,    // the same offsets as parameters
  packed,       // copies of parameters in layouts or types that operations prefer
  statistics,   // running statistics of batch normalisations
  activations,  // of the micro-batch's slot: written forward, read backward
  transient,    // shared by all micro-batches: dead at the end of a task
};
inline constexpr std::size_t space_count = static_cast<std::size_t>(Space::transient) + 1;

/// A view relative to a space. It can be bound to operations and checked like any other; it gets
/// its memory from `rebase`.
[[nodiscard]] BufferView symbolic(Space space, std::size_t offset, std::size_t bytes);

/// Where the shards of a divided network combine what lies in `data`: ahead of the call of that
/// index, or behind all.
struct ExchangePoint {
  std::size_t call = 0;
  Collective collective = Collective::all_reduce;
  BufferView data;
};

/// Whether a view is relative to the space.
[[nodiscard]] bool is_in(const BufferView& view, Space space);

/// Where each space begins, for one micro-batch.
using Bases = std::array<BufferView, space_count>;

/// A view on memory relative to `bases`; one that is not symbolic stays as it is.
[[nodiscard]] BufferView rebase(const BufferView& view, const Bases& bases);

/// The same calls on memory relative to `bases`. Views that are not symbolic stay as they are.
[[nodiscard]] std::vector<Call> rebase(const std::vector<OpCall>& calls, const Bases& bases);

}  // namespace parbench
