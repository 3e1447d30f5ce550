// Layers of shipped models, composed of general operations. The comment of a function describes
// what the returned layer computes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/general/term.h"
#include "scenarios/models/layers/composition.h"

namespace parbench {

/// Builds the graph and the parameters of a composition.
class Composer {
 public:
  [[nodiscard]] general::Term input(const Shape& sample) {
    return {&graph_, graph_.input(extents_of(sample))};
  }
  [[nodiscard]] general::Term parameter(const char* name, const Shape& shape,
                                        InitialValues initial) {
    parameters_.push_back({.name = name, .role = name, .shape = shape, .initial = initial});
    return {&graph_, graph_.parameter(shape)};
  }
  [[nodiscard]] general::Term constant(const Shape& shape, std::vector<double> values) {
    return {&graph_, graph_.constant(shape, std::move(values))};
  }
  /// Returns the composition; the composer is empty afterwards.
  [[nodiscard]] Composition composed(std::string name, general::Term output) {
    return {std::move(name), std::move(graph_), output, std::move(parameters_)};
  }

 private:
  general::Graph graph_;
  std::vector<ParameterSpec> parameters_;
};

/// Computes x / √(mean(x²) + ε) · weight over the last dimension (Zhang, Sennrich 2019).
[[nodiscard]] Composition rms_norm(const Shape& sample, float epsilon);

/// Returns silu(first half of the last dimension) · second half.
[[nodiscard]] general::Term gated_by_silu(general::Term x);

/// Computes silu(first half) · second half of the last dimension (Shazeer 2020): {…, 2·width} to
/// {…, width}.
[[nodiscard]] Composition gated_silu(const Shape& sample);

struct RotarySizes {
  std::int64_t sequence = 1;
  std::int64_t heads = 1;     // heads of queries: a multiple of `kv_heads`
  std::int64_t kv_heads = 1;  // heads of keys and of values
  std::int64_t head_size = 2;
  double base = 10000;  // pair i of a head rotates by base^(−2i/head_size) per position
};

/// Computes the input of SelfAttention from projections to queries, keys and values: {sequence,
/// (heads + 2·kv_heads)·head_size} to {sequence, 3·heads·head_size}. Queries and keys are rotated
/// by angles proportional to their position (Su et al. 2021); elements i and i + head_size/2 form a
/// pair, as in Llama. Each head of keys and values is repeated for the queries that share it.
[[nodiscard]] Composition rotary_projections(const RotarySizes& sizes);

/// Converts the pixels of an image to rows, prepends a trainable token as a row, and adds trainable
/// positions to all rows: {channels, height, width} to {1 + pixels, channels} (Dosovitskiy et al.
/// 2020).
[[nodiscard]] Composition class_token_and_positions(const Shape& image);

/// Selects the first row: {rows, width} to {width}.
[[nodiscard]] Composition first_row(const Shape& rows);

/// Adds trainable positions and the first of two trainable segments to each sample's {sequence,
/// width} (Devlin et al. 2018).
[[nodiscard]] Composition positions_and_segment(const Shape& sample);

/// Converts the pixels of an image to rows: {channels, height, width} to {pixels, channels}.
[[nodiscard]] Composition image_rows(const Shape& image);
/// Converts rows of pixels back to an image, {channels, height, width}.
[[nodiscard]] Composition rows_image(const Shape& image);

/// Adds rows of pixels, times a trainable number per channel (initially 1e-6), to an image (Touvron
/// et al. 2021). Reads {pixels, channels} and the image.
[[nodiscard]] Composition scaled_residual(const Shape& image);

/// Computes x·min(max(x + 3, 0), 6)/6 for samples of any shape (Howard et al. 2019).
[[nodiscard]] Composition hard_swish(const Shape& sample);

/// Multiplies the channels of an image by min(max(gate + 3, 0), 6)/6: the end of a
/// squeeze-and-excitation (Hu et al. 2017). Reads {channels, height, width} and {channels}.
[[nodiscard]] Composition channel_gate(const Shape& image);

}  // namespace parbench
