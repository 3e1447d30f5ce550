// Operations of a long short-term memory. For conventions see ops.h.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// One layer in one direction, with a zero state before the first position: {batch, sequence,
/// in_features} to {batch, sequence, hidden}. The four gates are those of torch.nn.LSTM, in its
/// order: input, forget, cell, output, each with `hidden` rows of the weights.
struct LstmShape {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t in_features = 1;
  std::int64_t hidden = 1;

  [[nodiscard]] Shape source() const { return {batch, sequence, in_features}; }
  [[nodiscard]] Shape destination() const { return {batch, sequence, hidden}; }
  [[nodiscard]] Shape weights() const { return {4 * hidden, in_features}; }
  [[nodiscard]] Shape recurrent_weights() const { return {4 * hidden, hidden}; }
  [[nodiscard]] std::int64_t gates() const { return 4 * hidden; }

  friend bool operator==(const LstmShape&, const LstmShape&) = default;
};

/// Long short-term memory (Hochreiter, Schmidhuber 1997; forget gates of Gers et al. 2000), at each
/// position t with h = c = 0 before the first:
///   i, f, g, o = weights·x[t] + recurrent_weights·h + bias
///   c = sigmoid(f)·c + sigmoid(i)·tanh(g)
///   destination[t] = h = sigmoid(o)·tanh(c)
/// PyTorch has two biases with equal gradients; `bias` is their sum, and its gradient equals the
/// gradient of each. Source and destination are canonical on every device. Arguments: source,
/// weights, recurrent_weights, bias (f32), destination, saved (opaque, for both backward
/// operations).
struct LstmForward {
  LstmShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const LstmForward&, const LstmForward&) = default;
};

/// The gradient of the source. Writes the gradients of the gates to `saved`, for
/// LstmBackwardWeights. Arguments: destination (of the forward pass), diff_destination, weights,
/// recurrent_weights, saved, diff_source.
struct LstmBackwardData {
  LstmShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const LstmBackwardData&, const LstmBackwardData&) = default;
};

/// The gradients of the parameters, after LstmBackwardData on the same `saved`. Arguments: source,
/// destination (of the forward pass), saved, diff_weights, diff_recurrent_weights, diff_bias (f32
/// all three).
struct LstmBackwardWeights {
  LstmShape shape;
  DType dtype = DType::f32;
  bool accumulate = false;
  MathMode math = MathMode::strict;

  friend bool operator==(const LstmBackwardWeights&, const LstmBackwardWeights&) = default;
};

}  // namespace parbench
