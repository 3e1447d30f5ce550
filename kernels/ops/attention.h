// Attention and its gradient. For conventions see ops.h.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1),
/// for each sample and head: scores = query·keyᵀ/sqrt(head_size), probabilities = softmax over the
/// keys (with `causal` over the keys up to the query's own position), destination =
/// probabilities·value. Arguments: projections {batch, sequence, 3·heads·head_size} (in the last
/// dimension queries, keys, values, each with the heads one after the other, as in GPT-2),
/// destination {batch, sequence, heads·head_size}, saved (opaque, for AttentionBackward). Both
/// tensors are canonical on every device.
struct AttentionForward {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  bool causal = true;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const AttentionForward&, const AttentionForward&) = default;
};

/// Gradient of AttentionForward with the same sizes. The probabilities are recomputed from the
/// forward pass's log-sum-exp of each row (Dao et al., "FlashAttention", 2022), so that the memory
/// saved for it is linear in `sequence`. Arguments: projections, destination (of the forward pass),
/// diff_destination, saved, diff_projections.
struct AttentionBackward {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  bool causal = true;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const AttentionBackward&, const AttentionBackward&) = default;
};

}  // namespace parbench
