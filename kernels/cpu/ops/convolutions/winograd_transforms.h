// The transforms of Winograd's algorithm F(4×4, 3×3) on processors with AVX2, each for one tile and
// a vector of 8 channels (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
#pragma once

#include <cstdint>

namespace parbench::cpu {

/// Output positions along a side of a tile.
inline constexpr std::int64_t tile_outputs = 4;
/// Input positions along a side of a tile, one less than its outputs and the window together.
inline constexpr std::int64_t tile_inputs = 6;
/// Products of a tile, for each pair of channels.
inline constexpr std::int64_t tile_products = tile_inputs * tile_inputs;

/// The part of a tile that lies within an image: rows and columns, from the first to before the
/// last.
struct TilePart {
  std::int64_t top = 0;
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// Reads a tile of an image, whose rows are `row_step` floats apart, zeros outside of it, and
/// writes `tile_products` vectors that are `step` floats apart. The tile begins `corner` floats
/// from the image's first.
void transform_source(const float* image, std::int64_t corner, std::int64_t row_step,
                      const TilePart& inside, float* to, std::int64_t step);

/// From 3×3 vectors, `tap_step` floats apart (negative: the window turned around).
void transform_weights(const float* taps, std::int64_t tap_step, float* to, std::int64_t step);

/// From `tile_products` sums to the outputs of a tile that lie within the image.
void transform_sums(const float* sums, std::int64_t step, float* tile, std::int64_t row_step,
                    const TilePart& inside);

/// The transpose of `transform_sums`: from the gradient of those outputs, zeros elsewhere, to
/// `tile_products` vectors.
void transform_gradient(const float* tile, std::int64_t row_step, const TilePart& inside, float* to,
                        std::int64_t step);

/// The transpose of `transform_weights`: to the gradients of the 3×3 taps, which it overwrites or
/// `adds` to.
void transform_weight_sums(const float* sums, std::int64_t step, float* taps, std::int64_t tap_step,
                           bool adds);

}  // namespace parbench::cpu
