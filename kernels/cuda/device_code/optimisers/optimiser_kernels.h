// Updates of optimisers and gradient clipping over flat f32. Pointers need the alignment of an
// element; kernels are fastest when all are multiples of 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace parbench::cuda {

/// parameters −= rate · factor · gradients; `factor` points to one number.
void descend_clipped(float* parameters, const float* gradients, const float* factor, float rate,
                     std::int64_t count, cudaStream_t stream);

struct MomentumUpdate {
  float* parameters;
  const float* gradients;
  float* velocity;
  const float* factor;  // points to the factor of the gradients; null: 1
  float rate;
  float momentum;
};

/// velocity = momentum · velocity + factor · gradients; parameters −= rate · velocity.
void descend_with_momentum(const MomentumUpdate& update, std::int64_t count, cudaStream_t stream);

struct AdamUpdate {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  std::byte* steps;     // number of earlier updates (64 bits, unaligned); is incremented
  const float* factor;  // points to the factor of the gradients; null: 1
  float rate;
  float beta1;
  float beta2;
  float epsilon;
  float coupled_decay;  // factor of the parameter that is added to its gradient
  float kept;           // factor of the parameter before the update (decoupled weight decay)
};

/// Performs an update of Adam (kernels/ops/ops.h). `counters`: counters of the stream
/// (arrival_counters.h), of which one is used.
void descend_by_adam(const AdamUpdate& update, std::int64_t count, unsigned int* counters,
                     cudaStream_t stream);

/// Returns the number of partial sums that `squared_norm` needs memory for. It depends only on the
/// count, so that the result does not depend on the GPU.
[[nodiscard]] std::int64_t squared_norm_partials(std::int64_t count);

/// sum = Σ values², computed in f64 in a fixed order, whatever the address: blocks write to
/// `partials`, and the last block to arrive adds these.
void squared_norm(float* sum, const float* values, double* partials, std::int64_t count,
                  unsigned int* counters, cudaStream_t stream);

/// factor = min(1, max_norm / (sqrt(Σ squared_norms) + 1e-6)).
void clip_factor(float* factor, const float* squared_norms, int parts, float max_norm,
                 cudaStream_t stream);

}  // namespace parbench::cuda
