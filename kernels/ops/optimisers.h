// Optimisers and gradient clipping over flat f32. For conventions see ops.h.
#pragma once

#include <cstdint>

namespace parbench {

/// An update of torch.optim.Adam (Kingma, Ba 2015), or with `decoupled` of torch.optim.AdamW
/// (Loshchilov, Hutter 2019), with bias correction. In step t, with g = gradients [· factor]:
///   Adam:  g += weight_decay · parameters
///   AdamW: parameters −= learning_rate · weight_decay · parameters
///   first_moment = beta1 · first_moment + (1 − beta1) · g
///   second_moment = beta2 · second_moment + (1 − beta2) · g²
///   parameters −= learning_rate / (1 − beta1^t) · first_moment /
///                 (sqrt(second_moment / (1 − beta2^t)) + epsilon)
/// Both moments and `steps` are zero before the first step. Arguments: parameters, gradients,
/// first_moment, second_moment, steps (one u64, incremented: t afterwards), [factor, one f32, where
/// clipped].
struct Adam {
  std::int64_t count = 0;
  float learning_rate = 0.001F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0;
  bool decoupled = false;
  bool clipped = false;

  friend bool operator==(const Adam&, const Adam&) = default;
};

/// sum = Σ source². The bits are the same at every execution. Arguments: source, sum (one f32).
struct SquaredNorm {
  std::int64_t count = 0;

  friend bool operator==(const SquaredNorm&, const SquaredNorm&) = default;
};

/// The factor of torch.nn.utils.clip_grad_norm_: min(1, max_norm / (norm + 1e-6)), where norm² is
/// the sum of `parts` squared norms. Arguments: squared_norms ({parts}), factor (one f32).
struct ClipFactor {
  float max_norm = 1;
  int parts = 1;

  friend bool operator==(const ClipFactor&, const ClipFactor&) = default;
};

}  // namespace parbench
