// Loops of optimisers over flat f32, vectorised, in the stream's team.
#pragma once

#include <cstddef>

namespace parbench::cpu {

struct MomentumUpdate {
  float rate;
  float momentum;
  float factor;  // factor of the gradients
};

/// velocity = momentum · velocity + factor · gradients; parameters −= rate · velocity.
void descend_with_momentum(float* parameters, const float* gradients, float* velocity,
                           const MomentumUpdate& update, std::size_t count, int threads);

struct AdamUpdate {
  float rate;           // learning_rate / (1 − beta1^t)
  float inverse_root;   // 1 / sqrt(1 − beta2^t)
  float first_weight;   // 1 − beta1
  float second_weight;  // 1 − beta2
  float epsilon;
  float factor;         // factor of the gradients
  float coupled_decay;  // weight_decay; 0 if it is decoupled
  float kept;           // factor of the parameter before the update (decoupled weight decay)
};

/// Arrays with one element per parameter.
struct AdamArrays {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
};

/// Runs one update of Adam (kernels/ops/optimisers.h).
void descend_by_adam(const AdamArrays& arrays, const AdamUpdate& update, std::size_t count,
                     int threads);

/// Number of elements per partial sum of `sum_squares`.
inline constexpr std::size_t square_block = 4096;

/// Writes Σ values² of every `square_block` elements to `partial_sums`, so that the total does not
/// depend on the number of threads.
void sum_squares(double* partial_sums, const float* values, std::size_t count, int threads);

}  // namespace parbench::cpu
