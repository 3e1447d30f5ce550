// Computes layers of sequences by plain loops in double precision. Tensors are canonical, samples
// outermost.
#pragma once

#include <cstdint>

#include "kernels/base/activation_kind.h"
#include "scenarios/models/naive/layers.h"

namespace parbench::naive {

/// Returns rows of the table {vocabulary, width}, selected by tokens.
[[nodiscard]] Values embedding(const Values& tokens, const Values& table, std::int64_t width);
/// Adds the table to each sample.
[[nodiscard]] Values with_positions(Values in, const Values& table);
/// Normalises rows of as many elements as `scale` has.
[[nodiscard]] Values layer_norm(const Values& in, const Values& scale, const Values& shift,
                                double epsilon);
/// Applies an activation function. `low` and `high` are the limits of ActivationKind::clip; other
/// kinds ignore them.
[[nodiscard]] Values activated(Values in, ActivationKind kind, double low, double high);
struct Heads {
  std::int64_t count = 1;
  bool causal = true;
};
/// Computes attention: {samples, sequence, 3·width} to {samples, sequence, width}.
[[nodiscard]] Values attention(const Values& in, std::int64_t samples, const Shape& output,
                               const Heads& heads);
struct LstmWeights {
  Values input;      // {4·hidden, width}
  Values recurrent;  // {4·hidden, hidden}
  Values bias;
};
/// Computes an LSTM: {samples, sequence, width} to {samples, sequence, hidden}.
[[nodiscard]] Values lstm(const Values& in, const LstmWeights& weights, std::int64_t sequence);
/// Sets elements whose random number is below the probability to 0, and scales the others.
[[nodiscard]] Values dropout(Values in, float probability, std::uint64_t subsequence);
/// Returns Σ over rows of −log softmax(row)[target], without rows whose target is negative.
[[nodiscard]] double cross_entropy(const Values& logits, const Values& target);

}  // namespace parbench::naive
