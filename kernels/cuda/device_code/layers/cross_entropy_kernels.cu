// A block for each row: maximum and sum in one pass over its logits (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018), the gradient in another.
#include "kernels/cuda/device_code/layers/cross_entropy_kernels.h"

#include <cfloat>

#include "kernels/cuda/device_code/blocks/row_reduce.cuh"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// A maximum, and the sum of exponentials relative to it.
struct Exponentials {
  float max = -FLT_MAX;
  float sum = 0;

  __device__ void add(float value) {
    if (value > max) {
      sum = sum * expf(max - value) + 1;
      max = value;
    } else {
      sum += expf(value - max);
    }
  }
};

/// Returns the Exponentials of a row in every thread of the block.
template <class Element>
__device__ Exponentials exponentials_of(const Element* logits, std::int64_t classes) {
  Exponentials own;
  for (std::int64_t i = threadIdx.x; i < classes; i += block_threads) own.add(widened(logits[i]));
  Exponentials all;
  all.max = combined_in_block(own.max, MaxOf{});
  all.sum = combined_in_block(own.sum * expf(own.max - all.max), SumOf{});
  return all;
}

template <class Element>
__device__ void clear_row(Element* row, std::int64_t classes) {
  for (std::int64_t i = threadIdx.x; i < classes; i += block_threads) row[i] = narrowed<Element>(0);
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    cross_entropy_kernel(CrossEntropy at, float scale, double* losses) {
  for (std::int64_t row = blockIdx.x; row < at.rows; row += gridDim.x) {
    const Element* logits = static_cast<const Element*>(at.logits) + row * at.classes;
    Element* diff = static_cast<Element*>(at.diff) + row * at.classes;
    const std::int32_t target = at.targets[row];
    if (target == at.ignored) {
      clear_row(diff, at.classes);
      if (threadIdx.x == 0) losses[row] = 0;
      continue;
    }
    const float target_logit = widened(logits[target]);  // read before it may be overwritten
    const Exponentials all = exponentials_of(logits, at.classes);
    if (threadIdx.x == 0) {
      losses[row] = static_cast<double>(logf(all.sum) - (target_logit - all.max));
    }
    for (std::int64_t i = threadIdx.x; i < at.classes; i += block_threads) {
      const float probability = expf(widened(logits[i]) - all.max) / all.sum;
      diff[i] = narrowed<Element>(scale * (i == target ? probability - 1 : probability));
    }
  }
}

__global__ void __launch_bounds__(block_threads)
    mean_loss_kernel(float* loss, const double* losses, std::int64_t rows, double total,
                     bool accumulate) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += block_threads) sum += losses[i];
  sum = combined_in_block(sum, SumOf{});
  if (threadIdx.x != 0) return;
  const auto mean = static_cast<float>(sum / total);
  *loss = accumulate ? *loss + mean : mean;
}

}  // namespace

void cross_entropy(const CrossEntropy& rows, double* losses, float* loss, cudaStream_t stream) {
  const auto total = static_cast<double>(rows.total);
  with_element(rows.dtype, [&](auto element) {
    PARBENCH_LAUNCH(blocks_for(rows.rows * block_threads), block_threads, stream,
                    cross_entropy_kernel<decltype(element)>, rows, static_cast<float>(1 / total),
                    losses);
  });
  PARBENCH_LAUNCH(1, block_threads, stream, mean_loss_kernel, loss,
                  static_cast<const double*>(losses), rows.rows, total, rows.accumulate);
}

}  // namespace parbench::cuda
