// Layers of the models that ship which are composed of general operations.
#pragma once

#include <cstdint>

#include "scenarios/models/layers/composition.h"

namespace parbench {

/// x / √(mean(x²) + ε) · weight over the last dimension (Zhang, Sennrich 2019).
[[nodiscard]] Composition rms_norm(const Shape& sample, float epsilon);

/// silu(first half of the last dimension) · second half.
[[nodiscard]] int gated_by_silu(general::Graph& graph, int x);

/// silu(first half) · second half of the last dimension (Shazeer 2020): {…, 2·width} to
/// {…, width}.
[[nodiscard]] Composition gated_silu(const Shape& sample);

struct RotarySizes {
  std::int64_t sequence = 1;
  std::int64_t heads = 1;     // of queries: a multiple of `kv_heads`
  std::int64_t kv_heads = 1;  // of keys and of values
  std::int64_t head_size = 2;
  double base = 10000;  // of the wavelengths, in positions over 2π
};

/// What SelfAttention reads, from projections of queries, keys and values: queries and keys are
/// turned by angles that grow with their position (Su et al. 2021; halves of a head are pairs, as
/// Llama has them), and each head of keys and values is repeated for the queries that share it.
/// {sequence, (heads + 2·kv_heads)·head_size} to {sequence, 3·heads·head_size}.
[[nodiscard]] Composition rotary_projections(const RotarySizes& sizes);

/// The pixels of an image as rows behind a trainable token, and trainable positions added to all:
/// {width, height, width of the image} to {1 + pixels, width} (Dosovitskiy et al. 2020).
[[nodiscard]] Composition class_token_and_positions(const Shape& image);

/// The first row: {rows, width} to {width}.
[[nodiscard]] Composition first_row(const Shape& rows);

/// Trainable positions and the first of two trainable segments, both added to each sample's
/// {sequence, width} (Devlin et al. 2018).
[[nodiscard]] Composition positions_and_segment(const Shape& sample);

/// The pixels of an image as rows: {channels, height, width} to {pixels, channels}.
[[nodiscard]] Composition image_rows(const Shape& image);
/// The other way, to {channels, height, width}.
[[nodiscard]] Composition rows_image(const Shape& image);

/// An image plus rows of its pixels times trainable numbers, one for each channel and 1e-6 at first
/// (Touvron et al. 2021). Reads {pixels, channels} and the image.
[[nodiscard]] Composition scaled_residual(const Shape& image);

/// x·min(max(x + 3, 0), 6)/6 of any sample (Howard et al. 2019).
[[nodiscard]] Composition hard_swish(const Shape& sample);

/// An image whose channels are multiplied by min(max(gate + 3, 0), 6)/6: the end of a
/// squeeze-and-excitation (Hu et al. 2017). Reads {channels, height, width} and {channels}.
[[nodiscard]] Composition channel_gate(const Shape& image);

}  // namespace parbench
