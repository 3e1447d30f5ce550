// Sums over the shards of a divided network. Collectives add f32: numbers of smaller types are
// widened first, and the sum is rounded once.
#pragma once

#include <cstddef>

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {

/// Returns the bytes of numbers of the work's element type when converted to f32; 0 if they are f32
/// already.
[[nodiscard]] std::size_t bytes_in_f32(const LayerPass& pass, std::size_t bytes);

/// Gives every shard the sum of all `data`. `in_f32`: scratch memory with `bytes_in_f32` bytes;
/// empty for f32.
void add_up(LayerPass& pass, const SymbolicView& data, const SymbolicView& in_f32);
/// Overload that takes its memory for f32 from the temporaries of the backward pass.
void add_up(BackwardPass& pass, const SymbolicView& data);

/// Gives every shard its own part of the sum of all `data`, in `destination`, which may be this
/// part of `data`. The content of `data` becomes undefined.
void add_up_part(LayerPass& pass, const SymbolicView& data, PositionPart part,
                 const SymbolicView& in_f32, const SymbolicView& destination);
/// Overload that takes its memory for f32 from the temporaries of the backward pass; the sum
/// replaces the part in `data`.
void add_up_part(BackwardPass& pass, const SymbolicView& data, PositionPart part);

}  // namespace parbench
