// Layer normalisation: one warp per row; for the gradients of scale and shift, threads process
// columns.
#include "kernels/cuda/device_code/layers/layer_norm_kernels.h"

#include "kernels/cuda/device_code/batch_norm/batch_norm_device.cuh"
#include "kernels/cuda/device_code/blocks/block_sum.cuh"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// Calls visit(row) for the rows of the calling thread's warp.
template <class Visit>
__device__ void for_each_row(std::int64_t rows, const Visit& visit) {
  const std::int64_t warps = grid_threads() / warp_threads;
  for (std::int64_t row = grid_thread() / warp_threads; row < rows; row += warps) visit(row);
}

/// Calls visit(column) with the first column of each group of the calling thread.
template <int size, class Visit>
__device__ void for_each_group(std::int64_t columns, const Visit& visit) {
  const auto lane = static_cast<std::int64_t>(threadIdx.x % warp_threads);
  for (std::int64_t i = lane * size; i < columns; i += warp_threads * size) visit(i);
}

__device__ float inverse_deviation(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

template <class Element>
struct ForwardRows {
  const Element* source;
  const float* scale;
  const float* shift;
  Element* destination;
  float* mean;
  float* variance;
  std::int64_t rows;
  std::int64_t columns;
  float epsilon;

  template <int size, bool grouped>
  __device__ void normalise(std::int64_t row) const {
    const Element* in = source + row * columns;
    const auto count = static_cast<float>(columns);
    float sum = 0;
    for_each_group<size>(columns, [&](std::int64_t column) {
      const auto group = load_at<size, grouped>(in + column);
#pragma unroll
      for (int i = 0; i < size; ++i) sum += widened(group.at[i]);
    });
    const float centre = warp_sum(sum) / count;
    float squares = 0;
    for_each_group<size>(columns, [&](std::int64_t column) {
      const auto group = load_at<size, grouped>(in + column);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        const float centred = widened(group.at[i]) - centre;
        squares = fmaf(centred, centred, squares);
      }
    });
    const float spread = warp_sum(squares) / count;
    write<size, grouped>(row, centre, inverse_deviation(spread, epsilon));
    if (threadIdx.x % warp_threads != 0) return;
    mean[row] = centre;
    variance[row] = spread;
  }

  template <int size, bool grouped>
  __device__ void write(std::int64_t row, float centre, float inverse) const {
    for_each_group<size>(columns, [&](std::int64_t column) {
      const std::int64_t first = row * columns + column;
      auto group = load_at<size, grouped>(source + first);
      const auto factors = load_at<size, grouped>(scale + column);
      const auto addends = load_at<size, grouped>(shift + column);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        const float normalised = (widened(group.at[i]) - centre) * inverse;
        group.at[i] = narrowed<Element>(fmaf(normalised, factors.at[i], addends.at[i]));
      }
      store_at<size, grouped>(destination + first, group);
    });
  }
};

template <int size, bool grouped, class Element>
__global__ void __launch_bounds__(block_threads) layer_norm_kernel(ForwardRows<Element> at) {
  for_each_row(at.rows, [&](std::int64_t row) { at.template normalise<size, grouped>(row); });
}

template <class Element>
struct BackwardRows {
  const Element* source;
  const Element* diff_destination;
  const float* mean;
  const float* variance;
  const float* scale;
  Element* diff_source;
  std::int64_t rows;
  std::int64_t columns;
  float epsilon;

  [[nodiscard]] __device__ float inverse_of(std::int64_t row) const {
    return inverse_deviation(variance[row], epsilon);
  }

  /// Calls visit(column, normalised, scaled) with the normalised values of a group and with its
  /// gradients times the scale.
  template <int size, bool grouped, class Visit>
  __device__ void for_each_gradient(std::int64_t row, const Visit& visit) const {
    const float centre = mean[row];
    const float inverse = inverse_of(row);
    for_each_group<size>(columns, [&](std::int64_t column) {
      const std::int64_t first = row * columns + column;
      const auto values = load_at<size, grouped>(source + first);
      const auto gradients = load_at<size, grouped>(diff_destination + first);
      const auto factors = load_at<size, grouped>(scale + column);
      Group<float, size> normalised;
      Group<float, size> scaled;
#pragma unroll
      for (int i = 0; i < size; ++i) {
        normalised.at[i] = (widened(values.at[i]) - centre) * inverse;
        scaled.at[i] = widened(gradients.at[i]) * factors.at[i];
      }
      visit(column, normalised, scaled);
    });
  }

  template <int size, bool grouped>
  __device__ void write(std::int64_t row) const {
    using Floats = Group<float, size>;
    float sum = 0;
    float product = 0;
    for_each_gradient<size, grouped>(
        row, [&](std::int64_t /*column*/, const Floats& normalised, const Floats& scaled) {
#pragma unroll
          for (int i = 0; i < size; ++i) {
            sum += scaled.at[i];
            product = fmaf(scaled.at[i], normalised.at[i], product);
          }
        });
    const auto count = static_cast<float>(columns);
    const float mean_sum = warp_sum(sum) / count;
    const float mean_product = warp_sum(product) / count;
    const float inverse = inverse_of(row);
    for_each_gradient<size, grouped>(
        row, [&](std::int64_t column, const Floats& normalised, const Floats& scaled) {
          Group<Element, size> result;
#pragma unroll
          for (int i = 0; i < size; ++i) {
            const float rest = fmaf(-normalised.at[i], mean_product, scaled.at[i] - mean_sum);
            result.at[i] = narrowed<Element>(inverse * rest);
          }
          store_at<size, grouped>(diff_source + row * columns + column, result);
        });
  }
};

template <int size, bool grouped, class Element>
__global__ void __launch_bounds__(block_threads) layer_gradient_kernel(BackwardRows<Element> at) {
  for_each_row(at.rows, [&](std::int64_t row) { at.template write<size, grouped>(row); });
}

/// Sums the gradient, and its product with the normalised value, over each column.
template <class Element>
__global__ void __launch_bounds__(block_threads)
    layer_sums_kernel(BackwardRows<Element> at, NormShape shape, float* diff_scale,
                      float* diff_shift, bool accumulate, NormScratch scratch) {
  float sums[1]{};
  float products[1]{};
  const std::int64_t column = cuda::first_channel<Element, 1>();
  if (column < shape.channels) {
    for (std::int64_t row = cuda::first_row(); row < shape.rows; row += cuda::row_stride()) {
      const std::int64_t index = row * shape.channels + column;
      const float gradient = widened(at.diff_destination[index]);
      const float centred = widened(at.source[index]) - at.mean[row];
      sums[0] += gradient;
      products[0] = fmaf(gradient, centred * at.inverse_of(row), products[0]);
    }
  }
  reduce_block<Element>(sums, products, shape, scratch.partials);
  if (!sum_slices<1>(shape, scratch)) return;
  const BlockChannels columns = block_channels<1>(shape);
  if (thread_in_block() >= columns.count) return;
  const std::int64_t mine = columns.first + thread_in_block();
  const ChannelSums totals = final_totals(shape, scratch, mine);
  diff_shift[mine] = (accumulate ? diff_shift[mine] : 0.0F) + static_cast<float>(totals.first);
  diff_scale[mine] = (accumulate ? diff_scale[mine] : 0.0F) + static_cast<float>(totals.second);
}

template <class Element>
void forward_rows(const ForwardRows<Element>& at, cudaStream_t stream) {
  constexpr int size = group_size<Element>;
  const unsigned int blocks = blocks_for(at.rows * warp_threads);
  if (at.columns % size != 0) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_norm_kernel<1, true, Element>, at);
  } else if (holds_groups<size>(at.source) && holds_groups<size>(at.destination) &&
             holds_groups<size>(at.scale) && holds_groups<size>(at.shift)) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_norm_kernel<size, true, Element>, at);
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_norm_kernel<size, false, Element>, at);
  }
}

template <class Element>
void backward_rows(const BackwardRows<Element>& at, cudaStream_t stream) {
  constexpr int size = group_size<Element>;
  const unsigned int blocks = blocks_for(at.rows * warp_threads);
  if (at.columns % size != 0) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_gradient_kernel<1, true, Element>, at);
  } else if (holds_groups<size>(at.source) && holds_groups<size>(at.diff_destination) &&
             holds_groups<size>(at.diff_source) && holds_groups<size>(at.scale)) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_gradient_kernel<size, true, Element>, at);
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, layer_gradient_kernel<size, false, Element>, at);
  }
}

}  // namespace

void layer_norm_forward(const NormShape& shape, const LayerNormPass& at, float epsilon,
                        cudaStream_t stream) {
  with_element(at.dtype, [&](auto element) {
    using Element = decltype(element);
    const ForwardRows<Element> rows{.source = static_cast<const Element*>(at.source),
                                    .scale = at.scale,
                                    .shift = at.shift,
                                    .destination = static_cast<Element*>(at.destination),
                                    .mean = at.mean,
                                    .variance = at.variance,
                                    .rows = shape.rows,
                                    .columns = shape.channels,
                                    .epsilon = epsilon};
    forward_rows(rows, stream);
  });
}

void layer_norm_backward(const NormShape& shape, const LayerNormGradient& at, float epsilon,
                         bool accumulate, const NormScratch& scratch, cudaStream_t stream) {
  with_element(at.dtype, [&](auto element) {
    using Element = decltype(element);
    const BackwardRows<Element> rows{
        .source = static_cast<const Element*>(at.source),
        .diff_destination = static_cast<const Element*>(at.diff_destination),
        .mean = at.mean,
        .variance = at.variance,
        .scale = at.scale,
        .diff_source = static_cast<Element*>(at.diff_source),
        .rows = shape.rows,
        .columns = shape.channels,
        .epsilon = epsilon};
    const Division parts = divide(shape, 1);
    PARBENCH_LAUNCH(parts.grid, parts.block, stream, layer_sums_kernel<Element>, rows, shape,
                    at.diff_scale, at.diff_shift, accumulate, scratch);
    backward_rows(rows, stream);
  });
}

}  // namespace parbench::cuda
