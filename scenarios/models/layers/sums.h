// Sums over the shards of a divided network. Collectives add in f32: elements of smaller types are
// converted first, and the sum is rounded once.
#pragma once

#include <cstddef>

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {

/// Returns the bytes that `bytes` of activations take after conversion to f32; 0 if they are f32
/// already.
[[nodiscard]] std::size_t bytes_in_f32(const LayerPass& pass, std::size_t bytes);

/// Replaces `data` on every shard by the sum over all shards. `in_f32`: scratch memory of
/// `bytes_in_f32` bytes; empty for f32.
void add_up(LayerPass& pass, const SymbolicView& data, const SymbolicView& in_f32);
/// Overload with scratch memory from the backward pass.
void add_up(BackwardPass& pass, const SymbolicView& data);

/// Writes each shard's part of the sum of `data` over all shards to `destination`, which may be
/// this part of `data`. The content of the rest of `data` becomes undefined.
void add_up_part(LayerPass& pass, const SymbolicView& data, PositionPart part,
                 const SymbolicView& in_f32, const SymbolicView& destination);
/// Overload with scratch memory from the backward pass. The sum replaces the part in `data`.
void add_up_part(BackwardPass& pass, const SymbolicView& data, PositionPart part);

}  // namespace parbench
