// Squared errors in two passes: one over the elements, one over the blocks' sums.
#include "kernels/cuda/device_code/loss_kernels.h"

#include "kernels/cuda/device_code/blocks/block_sum.cuh"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

template <class Element>
struct Tensors {
  const Element* prediction;
  const Element* target;
  Element* difference;
  float scale;

  /// Writes `size` differences; returns the sum of their squares before scaling.
  template <int size, bool grouped>
  __device__ double squares(std::int64_t first) const {
    const auto a = load_at<size, grouped>(prediction + first);
    const auto b = load_at<size, grouped>(target + first);
    Group<Element, size> result;
    double sum = 0;
#pragma unroll
    for (int i = 0; i < size; ++i) {
      const float delta = widened(a.at[i]) - widened(b.at[i]);
      result.at[i] = narrowed<Element>(scale * delta);
      sum += static_cast<double>(delta) * static_cast<double>(delta);
    }
    store_at<size, grouped>(difference + first, result);
    return sum;
  }
};

/// A thread adds the same elements in the same order whether or not they are loaded in groups.
template <bool grouped, class Element>
__global__ void __launch_bounds__(block_threads)
    squared_error_kernel(Tensors<Element> tensors, std::int64_t count, double* partials) {
  constexpr int size = group_size<Element>;
  const std::int64_t groups = count / size;
  double sum = 0;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    sum += tensors.template squares<size, grouped>(i * size);
  }
  const std::int64_t rest = groups * size + grid_thread();
  if (rest < count) sum += tensors.template squares<1, true>(rest);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(block_threads)
    loss_kernel(float* loss, const double* partials, std::int64_t count, double divisor,
                bool accumulate) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += block_threads) sum += partials[i];
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const auto mean = static_cast<float>(sum / divisor);
  *loss = accumulate ? *loss + mean : mean;
}

template <class Element>
void launch(const SquaredError& error, double* partials, unsigned int blocks, cudaStream_t stream) {
  constexpr int size = group_size<Element>;
  const Tensors<Element> tensors{static_cast<const Element*>(error.prediction),
                                 static_cast<const Element*>(error.target),
                                 static_cast<Element*>(error.difference), error.scale};
  if (holds_groups<size>(tensors.prediction) && holds_groups<size>(tensors.target) &&
      holds_groups<size>(tensors.difference)) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, squared_error_kernel<true, Element>, tensors,
                    error.count, partials);
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, squared_error_kernel<false, Element>, tensors,
                    error.count, partials);
  }
}

}  // namespace

std::int64_t squared_error_partials(DType dtype, std::int64_t count) {
  const int size = dtype == DType::bf16 ? group_size<__nv_bfloat16> : group_size<float>;
  return blocks_for(count / size);
}

void squared_error(const SquaredError& error, double* partials, float* loss, cudaStream_t stream) {
  const std::int64_t blocks = squared_error_partials(error.dtype, error.count);
  with_element(error.dtype, [&](auto element) {
    launch<decltype(element)>(error, partials, static_cast<unsigned int>(blocks), stream);
  });
  PARBENCH_LAUNCH(1, block_threads, stream, loss_kernel, loss, partials, blocks,
                  static_cast<double>(error.divisor), error.accumulate);
}

}  // namespace parbench::cuda
