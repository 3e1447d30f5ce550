// Updates of optimisers and gradient clipping.
#include "kernels/cuda/device_code/optimisers/optimiser_kernels.h"

#include <cstring>

#include "kernels/cuda/device_code/blocks/block_arrival.cuh"
#include "kernels/cuda/device_code/blocks/block_sum.cuh"
#include "kernels/cuda/device_code/map.cuh"

namespace parbench::cuda {
namespace {

constexpr int group_width = group_size<float>;

__device__ float factor_at(const float* factor) { return factor == nullptr ? 1.0F : *factor; }

struct ClippedDescent {
  const float* factor;
  float rate;
  __device__ float operator()(float parameter, float gradient) const {
    return fmaf(-rate * *factor, gradient, parameter);
  }
};

template <int size>
__device__ void momentum_group(const MomentumUpdate& at, float factor, std::int64_t first) {
  auto parameters = load<size>(at.parameters + first);
  auto velocity = load<size>(at.velocity + first);
  const auto gradients = load<size>(at.gradients + first);
#pragma unroll
  for (int i = 0; i < size; ++i) {
    velocity.at[i] = fmaf(at.momentum, velocity.at[i], factor * gradients.at[i]);
    parameters.at[i] = fmaf(-at.rate, velocity.at[i], parameters.at[i]);
  }
  store<size>(at.velocity + first, velocity);
  store<size>(at.parameters + first, parameters);
}

template <int size>
__global__ void __launch_bounds__(block_threads)
    momentum_kernel(MomentumUpdate at, std::int64_t count) {
  const float factor = factor_at(at.factor);
  const std::int64_t groups = count / size;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    momentum_group<size>(at, factor, i * size);
  }
  const std::int64_t rest = groups * size + grid_thread();
  if (size > 1 && rest < count) momentum_group<1>(at, factor, rest);
}

/// Factors that depend on the number of the update.
struct Correction {
  float rate;
  float inverse_root;  // 1/sqrt(1 − beta2^t)
};

__device__ std::uint64_t number_at(const std::byte* address) {
  std::uint64_t number = 0;
  std::memcpy(&number, address, sizeof number);
  return number;
}

__device__ Correction correction_of(const AdamUpdate& at) {
  const auto step = static_cast<double>(number_at(at.steps) + 1);
  const double first = 1.0 - pow(static_cast<double>(at.beta1), step);
  const double second = 1.0 - pow(static_cast<double>(at.beta2), step);
  return {static_cast<float>(at.rate / first), static_cast<float>(1.0 / sqrt(second))};
}

template <int size>
__device__ void adam_group(const AdamUpdate& at, const Correction& correction, float factor,
                           std::int64_t begin) {
  auto parameters = load<size>(at.parameters + begin);
  auto first = load<size>(at.first_moment + begin);
  auto second = load<size>(at.second_moment + begin);
  const auto gradients = load<size>(at.gradients + begin);
#pragma unroll
  for (int i = 0; i < size; ++i) {
    const float gradient = fmaf(at.coupled_decay, parameters.at[i], factor * gradients.at[i]);
    first.at[i] = fmaf(1.0F - at.beta1, gradient - first.at[i], first.at[i]);
    second.at[i] = fmaf(1.0F - at.beta2, gradient * gradient - second.at[i], second.at[i]);
    const float deviation = fmaf(sqrtf(second.at[i]), correction.inverse_root, at.epsilon);
    parameters.at[i] = at.kept * parameters.at[i] - correction.rate * first.at[i] / deviation;
  }
  store<size>(at.parameters + begin, parameters);
  store<size>(at.first_moment + begin, first);
  store<size>(at.second_moment + begin, second);
}

/// The last block to arrive increments the number of steps, which all blocks have read by then.
template <int size>
__global__ void __launch_bounds__(block_threads)
    adam_kernel(AdamUpdate at, std::int64_t count, unsigned int* counters) {
  __shared__ Correction correction;
  if (threadIdx.x == 0) correction = correction_of(at);
  __syncthreads();
  const float factor = factor_at(at.factor);
  const std::int64_t groups = count / size;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    adam_group<size>(at, correction, factor, i * size);
  }
  const std::int64_t rest = groups * size + grid_thread();
  if (size > 1 && rest < count) adam_group<1>(at, correction, factor, rest);
  if (!arrives_last(counters, static_cast<int>(gridDim.x)) || threadIdx.x != 0) return;
  const std::uint64_t steps = number_at(at.steps) + 1;
  std::memcpy(at.steps, &steps, sizeof steps);
}

template <int size, bool grouped>
__device__ double squares_of(const float* values) {
  const auto group = load_at<size, grouped>(values);
  double sum = 0;
#pragma unroll
  for (int i = 0; i < size; ++i) {
    sum += static_cast<double>(group.at[i]) * static_cast<double>(group.at[i]);
  }
  return sum;
}

/// A thread adds the same elements in the same order whether or not they are loaded in groups.
template <bool grouped>
__global__ void __launch_bounds__(block_threads)
    squared_norm_kernel(float* result, const float* values, double* partials, std::int64_t count,
                        unsigned int* counters) {
  const std::int64_t groups = count / group_width;
  double sum = 0;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    sum += squares_of<group_width, grouped>(values + i * group_width);
  }
  const std::int64_t rest = groups * group_width + grid_thread();
  if (rest < count) sum += squares_of<1, true>(values + rest);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
  if (!arrives_last(counters, static_cast<int>(gridDim.x))) return;
  sum = 0;
  for (unsigned int i = threadIdx.x; i < gridDim.x; i += block_threads) {
    sum += __ldcg(partials + i);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) *result = static_cast<float>(sum);
}

__global__ void clip_factor_kernel(float* factor, const float* squared_norms, int parts,
                                   float max_norm) {
  double sum = 0;
  for (int i = 0; i < parts; ++i) sum += static_cast<double>(squared_norms[i]);
  const double wanted = static_cast<double>(max_norm) / (sqrt(sum) + 1e-6);
  *factor = wanted > 1.0 ? 1.0F : static_cast<float>(wanted);  // a NaN stays a NaN
}

}  // namespace

void descend_clipped(float* parameters, const float* gradients, const float* factor, float rate,
                     std::int64_t count, cudaStream_t stream) {
  map(stream, count, ClippedDescent{factor, rate}, parameters,
      static_cast<const float*>(parameters), gradients);
}

void descend_with_momentum(const MomentumUpdate& update, std::int64_t count, cudaStream_t stream) {
  if (holds_groups<group_width>(update.parameters) && holds_groups<group_width>(update.gradients) &&
      holds_groups<group_width>(update.velocity)) {
    PARBENCH_LAUNCH(blocks_for(count / group_width), block_threads, stream,
                    momentum_kernel<group_width>, update, count);
  } else {
    PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, momentum_kernel<1>, update, count);
  }
}

void descend_by_adam(const AdamUpdate& update, std::int64_t count, unsigned int* counters,
                     cudaStream_t stream) {
  if (holds_groups<group_width>(update.parameters) && holds_groups<group_width>(update.gradients) &&
      holds_groups<group_width>(update.first_moment) &&
      holds_groups<group_width>(update.second_moment)) {
    PARBENCH_LAUNCH(blocks_for(count / group_width), block_threads, stream,
                    adam_kernel<group_width>, update, count, counters);
  } else {
    PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, adam_kernel<1>, update, count,
                    counters);
  }
}

std::int64_t squared_norm_partials(std::int64_t count) { return blocks_for(count / group_width); }

void squared_norm(float* sum, const float* values, double* partials, std::int64_t count,
                  unsigned int* counters, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned int>(squared_norm_partials(count));
  if (holds_groups<group_width>(values)) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, squared_norm_kernel<true>, sum, values, partials,
                    count, counters);
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, squared_norm_kernel<false>, sum, values,
                    partials, count, counters);
  }
}

void clip_factor(float* factor, const float* squared_norms, int parts, float max_norm,
                 cudaStream_t stream) {
  PARBENCH_LAUNCH(1, 1, stream, clip_factor_kernel, factor, squared_norms, parts, max_norm);
}

}  // namespace parbench::cuda
