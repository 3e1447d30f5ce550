// Layers of sequences by plain loops in double precision. Tensors are canonical, samples outermost.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::test {

using Values = std::vector<double>;

/// Rows of the table {vocabulary, width}, chosen by tokens.
[[nodiscard]] Values embedding(const Values& tokens, const Values& table, std::int64_t width);
/// The table added to each sample.
[[nodiscard]] Values with_positions(Values in, const Values& table);
/// Of rows of so many elements.
[[nodiscard]] Values layer_norm(const Values& in, const Values& scale, const Values& shift);
/// The tanh approximation.
[[nodiscard]] Values gelu(Values in);
/// {samples, sequence, 3·width} to {samples, sequence, width}.
[[nodiscard]] Values causal_attention(const Values& in, std::int64_t samples, const Shape& output,
                                      std::int64_t heads);
/// Σ over rows of −log softmax(row)[target].
[[nodiscard]] double cross_entropy(const Values& logits, const Values& target);

}  // namespace parbench::test
