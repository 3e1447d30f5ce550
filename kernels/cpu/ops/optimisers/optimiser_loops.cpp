// Loops of optimisers, compiled once per instruction set, and without errno (see CMakeLists.txt),
// because GCC does not vectorise square roots that may set errno.
#include "kernels/cpu/ops/optimisers/optimiser_loops.h"

#include <algorithm>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t update_grain = 1024;  // elements; whole cache lines

PARBENCH_SIMD void momentum_range(float* parameters, const float* gradients, float* velocity,
                                  MomentumUpdate update, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = update.momentum * velocity[i] + update.factor * gradients[i];
    parameters[i] -= update.rate * velocity[i];
  }
}

PARBENCH_SIMD void adam_range(AdamArrays at, AdamUpdate update, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const float parameter = at.parameters[i];
    const float gradient = update.factor * at.gradients[i] + update.coupled_decay * parameter;
    const float first = at.first_moment[i] + update.first_weight * (gradient - at.first_moment[i]);
    const float second =
        at.second_moment[i] + update.second_weight * (gradient * gradient - at.second_moment[i]);
    const float deviation = __builtin_sqrtf(second) * update.inverse_root + update.epsilon;
    at.first_moment[i] = first;
    at.second_moment[i] = second;
    at.parameters[i] = update.kept * parameter - update.rate * first / deviation;
  }
}

PARBENCH_SIMD double squares_of_block(const float* values, std::size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return sum;
}

}  // namespace

void descend_with_momentum(float* parameters, const float* gradients, float* velocity,
                           const MomentumUpdate& update, std::size_t count, int threads) {
  parallel_ranges(count, update_grain, threads, [&](std::size_t begin, std::size_t end) {
    momentum_range(parameters + begin, gradients + begin, velocity + begin, update, end - begin);
  });
}

void descend_by_adam(const AdamArrays& arrays, const AdamUpdate& update, std::size_t count,
                     int threads) {
  parallel_ranges(count, update_grain, threads, [&](std::size_t begin, std::size_t end) {
    const AdamArrays range{arrays.parameters + begin, arrays.gradients + begin,
                           arrays.first_moment + begin, arrays.second_moment + begin};
    adam_range(range, update, end - begin);
  });
}

void sum_squares(double* partial_sums, const float* values, std::size_t count, int threads) {
  parallel_ranges(count, square_block, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += square_block) {
      partial_sums[i / square_block] =
          squares_of_block(values + i, std::min(square_block, end - i));
    }
  });
}

}  // namespace parbench::cpu
