// Steps of optimisers, and the clipping of their gradients, over flat f32. Pointers need the
// alignment of an element; kernels are fastest when all are multiples of 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace parbench::cuda {

/// parameters −= rate · factor · gradients; `factor` is one number.
void descend_clipped(float* parameters, const float* gradients, const float* factor, float rate,
                     std::int64_t count, cudaStream_t stream);

struct MomentumStep {
  float* parameters;
  const float* gradients;
  float* velocity;
  const float* factor;  // one number, of the gradients; null: 1
  float rate;
  float momentum;
};

/// velocity = momentum · velocity + factor · gradients; parameters −= rate · velocity.
void descend_with_momentum(const MomentumStep& step, std::int64_t count, cudaStream_t stream);

struct AdamStep {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  std::byte* steps;     // a 64-bit number at any address, incremented
  const float* factor;  // one number, of the gradients; null: 1
  float rate;
  float beta1;
  float beta2;
  float epsilon;
  float coupled_decay;  // times the parameter, added to its gradient
  float kept;           // of the parameter ahead of the update, the rest decays
};

/// One step of Adam as kernels/ops/ops.h describes it. `counters`: those of the stream
/// (arrival_counters.h), one of which is used.
void descend_by_adam(const AdamStep& step, std::int64_t count, unsigned int* counters,
                     cudaStream_t stream);

/// Partial sums that `squared_norm` needs memory for; a function of the count alone, so that the
/// result does not depend on the GPU either.
[[nodiscard]] std::int64_t squared_norm_partials(std::int64_t count);

/// sum = Σ values², taken in f64 in a fixed order, whatever the address: by blocks into `partials`,
/// then by the last block to arrive.
void squared_norm(float* sum, const float* values, double* partials, std::int64_t count,
                  unsigned int* counters, cudaStream_t stream);

/// factor = min(1, max_norm / (sqrt(Σ squared_norms) + 1e-6)).
void clip_factor(float* factor, const float* squared_norms, int parts, float max_norm,
                 cudaStream_t stream);

}  // namespace parbench::cuda
