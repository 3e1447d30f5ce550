// Parts that several models have: checks of sizes, and layers that are composed of general
// operations.
#pragma once

#include <cstdint>

#include "scenarios/models/layers/composition.h"

namespace parbench {

/// Throws std::invalid_argument, which names both flags, unless the heads divide the width.
void check_heads(std::int64_t hidden, std::int64_t heads);

/// x / √(mean(x²) + ε) · weight over the last dimension (Zhang, Sennrich 2019).
[[nodiscard]] Composition rms_norm(const Shape& sample, float epsilon);

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

}  // namespace parbench
