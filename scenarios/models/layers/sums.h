// Sums of what the shards of a divided network have. Collectives add f32: shorter numbers are
// widened before, and the sum is rounded once.
#pragma once

#include <cstddef>

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {

/// The bytes that numbers of the work's element type take in f32; 0: they are f32 already.
[[nodiscard]] std::size_t bytes_in_f32(const LayerPass& pass, std::size_t bytes);

/// Every shard gets the sum of all `data`. `in_f32`: scratch memory of `bytes_in_f32`; empty for
/// f32.
void add_up(LayerPass& pass, const BufferView& data, const BufferView& in_f32);
/// The same with a temporary.
void add_up(BackwardPass& pass, const BufferView& data);

/// Every shard gets its own part of the sum of all `data` in `destination`, which may be the place
/// of that part in `data`; the rest of `data` is lost.
void add_up_part(LayerPass& pass, const BufferView& data, PositionPart part,
                 const BufferView& in_f32, const BufferView& destination);
/// The same with a temporary, in the part's place in `data`.
void add_up_part(BackwardPass& pass, const BufferView& data, PositionPart part);

}  // namespace parbench
