// A tile is a part of up to three loops of a Map. Its elements are copied between strided memory
// and a block, which contains them row by row in f32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/base/tensor.h"
#include "kernels/ops/map.h"

namespace parbench::cpu {

inline constexpr std::size_t tile_dimensions = 3;

/// Extents or strides of the loops of a tile, innermost first.
using TileExtents = std::array<std::int64_t, tile_dimensions>;
using TileStrides = std::array<std::int64_t, tile_dimensions>;

[[nodiscard]] constexpr std::int64_t element_count(const TileExtents& extents) {
  return extents[0] * extents[1] * extents[2];
}

/// Returns whether the elements of a tile are contiguous in memory, in the order of a block.
[[nodiscard]] bool is_dense(const TileExtents& extents, const TileStrides& strides);

[[nodiscard]] float load_element(DType dtype, const std::byte* element);

/// Loads the elements of a tile as f32; `first` is the address of its first element.
void load_tile(float* block, const TileExtents& extents, DType dtype, const std::byte* first,
               const TileStrides& strides);
/// Loads a coordinate, whose element at position p is p. `first`: the tile's first position.
void load_positions(float* block, const TileExtents& extents, std::int64_t first,
                    const TileStrides& strides);

/// Stores a block in the elements of a tile, rounded to their type.
void store_tile(DType dtype, std::byte* first, const TileStrides& strides,
                const TileExtents& extents, const float* block);

/// Copies elements of `bytes` bytes each between tiles whose innermost strides are 1.
void copy_tile(std::byte* to, const TileStrides& to_strides, const std::byte* from,
               const TileStrides& from_strides, const TileExtents& extents, std::size_t bytes);

/// Reduces the loops of a tile that `is_reduced` selects. The result is in `work`, as a tile in
/// which these loops have extent 1. `work` has the size of a tile and may be `block`. Sums are
/// pairwise or by lanes, in an order that depends only on the extents.
void fold_tile(Reduction reduction, float* work, const float* block, const TileExtents& extents,
               const std::array<bool, tile_dimensions>& is_reduced);

/// totals[i] = the reduction of totals[i] and block[i].
void combine(Reduction reduction, double* totals, const float* block, std::size_t count);
void combine(Reduction reduction, double* totals, const double* others, std::size_t count);

}  // namespace parbench::cpu
