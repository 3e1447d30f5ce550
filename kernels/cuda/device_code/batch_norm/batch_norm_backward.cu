// Batch normalisation in training: kernels of the backward pass.
#include "kernels/cuda/device_code/batch_norm/batch_norm_device.cuh"

namespace parbench::cuda {
namespace {

// Blocks per multiprocessor for which the kernels are compiled (__launch_bounds__). Must be at
// least resident_blocks_forward, by which `norm_shape` limits the slices.
constexpr int resident_blocks_backward = 4;

// Two tensors are read at once, so half as many packs of each are in flight.
template <class Element, int width>
constexpr int batch_of_pairs = Pack<Element, width>::batch / 2;

template <class Element, int width>
struct Pair {
  Pack<Element, width> x;
  Pack<Element, width> gradient;
  unsigned int bits;  // bits of the mask: the lowest `width` bits
};

/// Loads the elements, their gradients, and with `relu` their bits of the mask. `index`: index of
/// the first element.
template <bool relu, class Element, int width>
__device__ void load_pair(Pair<Element, width>& pair, const NormBackward<Element>& at,
                          const NormShape& shape, std::int64_t index) {
  pair.x.load(at.source + index);
  pair.gradient.load(at.diff_destination + index);
  if constexpr (!relu) return;
  const bool paired = width == 1 ? pairs<Element>(shape.channels) : paired_threads<Element, width>;
  const MaskBit mask = mask_bit(index, paired);
  pair.bits = static_cast<unsigned int>(at.mask[mask.byte]) >> mask.bit;
}

/// Returns the gradient at the input of the ReLU.
template <bool relu, class Element, int width>
__device__ void unpack_gradient(const Pair<Element, width>& pair, float (&values)[width]) {
  pair.gradient.unpack(values);
  if constexpr (relu) {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if ((pair.bits >> static_cast<unsigned int>(i) & 1U) == 0) values[i] = 0;
    }
  }
}

// Computes the gradients of scale and shift of a channel, and the coefficients of diff_source = p·g
// + q·x + r. With s = 1 / sqrt(variance + epsilon), diff_source = scale·s·(g − Σg/n − (x −
// mean)·s²·Σg·(x − mean)/n).
template <class Element>
__device__ void finish_gradients(const NormBackward<Element>& at, const NormShape& shape,
                                 float epsilon, bool accumulate, const NormScratch& scratch,
                                 std::int64_t c) {
  const ChannelSums sums = final_totals(shape, scratch, c);
  const auto count = static_cast<double>(shape.rows);
  const double inverse =
      1 / sqrt(static_cast<double>(at.variance[c]) + static_cast<double>(epsilon));
  const double product = sums.second * inverse;
  at.diff_scale[c] = static_cast<float>(product) + (accumulate ? at.diff_scale[c] : 0.0F);
  at.diff_shift[c] = static_cast<float>(sums.first) + (accumulate ? at.diff_shift[c] : 0.0F);
  const double p = static_cast<double>(at.scale[c]) * inverse;
  const auto q = static_cast<float>(-p * inverse * product / count);
  const double r =
      -p * sums.first / count - static_cast<double>(q) * static_cast<double>(at.mean[c]);
  scratch.coefficients[c] = static_cast<float>(p);
  scratch.coefficients[shape.channels + c] = q;
  scratch.coefficients[2 * shape.channels + c] = static_cast<float>(r);
}

// Sums the gradient g and g·(x − mean). The last block of a channel computes its coefficients.
template <class Element, int width, bool relu>
__global__ __launch_bounds__(block_threads, resident_blocks_backward) void gradient_sums_kernel(
    NormBackward<Element> at, NormShape shape, float epsilon, bool accumulate,
    NormScratch scratch) {
  constexpr int batch = batch_of_pairs<Element, width>;
  float sums[width]{};
  float products[width]{};
  const std::int64_t channel = first_channel<Element, width>();
  if (channel < shape.channels) {
    float mean[width];
    load_floats<Element>(at.mean + channel, mean);
    const auto add = [&](const Pair<Element, width>& pair) {
      float x[width];
      float gradient[width];
      pair.x.unpack(x);
      unpack_gradient<relu>(pair, gradient);
#pragma unroll
      for (int i = 0; i < width; ++i) {
        sums[i] += gradient[i];
        products[i] = fmaf(gradient[i], x[i] - mean[i], products[i]);
      }
    };
    Pair<Element, width> pairs[batch];
    const std::int64_t stride = row_stride();
    std::int64_t row = first_row();
    for (; row + (batch - 1) * stride < shape.rows; row += batch * stride) {
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        load_pair<relu>(pairs[i], at, shape, (row + i * stride) * shape.channels + channel);
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) add(pairs[i]);
    }
    for (; row < shape.rows; row += stride) {
      load_pair<relu>(pairs[0], at, shape, row * shape.channels + channel);
      add(pairs[0]);
    }
  }
  reduce_block<Element>(sums, products, shape, scratch.partials);
  if (!sum_slices<width>(shape, scratch)) return;
  const BlockChannels channels = block_channels<width>(shape);
  if (thread_in_block() >= channels.count) return;
  finish_gradients(at, shape, epsilon, accumulate, scratch, channels.first + thread_in_block());
}

// Runs from the last row to the first, because the last rows may still be in the cache. Each thread
// overwrites only gradients that it has read.
template <class Element, bool relu>
__global__ __launch_bounds__(block_threads, resident_blocks_backward) void gradient_vectors_kernel(
    NormBackward<Element> at, NormShape shape, const float* __restrict__ coefficients) {
  constexpr int batch = batch_of_pairs<Element, vector_width>;
  using Pairs = Pair<Element, vector_width>;
  const std::int64_t channel = first_channel<Element, vector_width>();
  if (channel >= shape.channels) return;
  float p[vector_width];
  float q[vector_width];
  float r[vector_width];
  load_floats<Element>(coefficients + channel, p);
  load_floats<Element>(coefficients + shape.channels + channel, q);
  load_floats<Element>(coefficients + 2 * shape.channels + channel, r);
  const auto write = [&](Pairs& pair, std::int64_t index) {
    float x[vector_width];
    float gradient[vector_width];
    pair.x.unpack(x);
    unpack_gradient<relu>(pair, gradient);
#pragma unroll
    for (int i = 0; i < vector_width; ++i) x[i] = fmaf(p[i], gradient[i], fmaf(q[i], x[i], r[i]));
    pair.x.pack(x);
    pair.x.store(at.diff_source + index);
  };
  Pairs pairs[batch];
  const std::int64_t stride = row_stride();
  std::int64_t row = shape.rows - 1 - first_row();
  for (; row - (batch - 1) * stride >= 0; row -= batch * stride) {
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      load_pair<relu>(pairs[i], at, shape, (row - i * stride) * shape.channels + channel);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) write(pairs[i], (row - i * stride) * shape.channels + channel);
  }
  for (; row >= 0; row -= stride) {
    load_pair<relu>(pairs[0], at, shape, row * shape.channels + channel);
    write(pairs[0], row * shape.channels + channel);
  }
}

template <class Element, bool relu>
__global__ void gradient_scalars_kernel(NormBackward<Element> at, NormShape shape,
                                        const float* __restrict__ coefficients) {
  const std::int64_t count = shape.rows * shape.channels;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; index < count; index += stride) {
    const float* of_channel = coefficients + index % shape.channels;
    Pair<Element, 1> pair;
    float x[1];
    float gradient[1];
    load_pair<relu>(pair, at, shape, index);
    pair.x.unpack(x);
    unpack_gradient<relu>(pair, gradient);
    const float rest = fmaf(of_channel[shape.channels], x[0], of_channel[2 * shape.channels]);
    narrow(fmaf(of_channel[0], gradient[0], rest), at.diff_source[index]);
  }
}

template <class Element, bool relu>
void backward_vectors(const NormShape& shape, const NormBackward<Element>& at, float epsilon,
                      bool accumulate, const NormScratch& scratch, cudaStream_t stream) {
  const Division parts = divide(shape, vector_width);
  PARBENCH_LAUNCH(parts.grid, parts.block, stream,
                  gradient_sums_kernel<Element, vector_width, relu>, at, shape, epsilon, accumulate,
                  scratch);
  PARBENCH_LAUNCH(parts.grid, parts.block, stream, gradient_vectors_kernel<Element, relu>, at,
                  shape, scratch.coefficients);
}

template <class Element, bool relu>
void backward_scalars(const NormShape& shape, const NormBackward<Element>& at, float epsilon,
                      bool accumulate, const NormScratch& scratch, cudaStream_t stream) {
  const Division parts = divide(shape, 1);
  PARBENCH_LAUNCH(parts.grid, parts.block, stream, gradient_sums_kernel<Element, 1, relu>, at,
                  shape, epsilon, accumulate, scratch);
  PARBENCH_LAUNCH(blocks_for(shape.rows * shape.channels), block_threads, stream,
                  gradient_scalars_kernel<Element, relu>, at, shape, scratch.coefficients);
}

template <class Element>
void backward(const NormShape& shape, const NormBackward<Element>& at, float epsilon,
              bool accumulate, const NormScratch& scratch, cudaStream_t stream) {
  const bool relu = at.mask != nullptr;
  const auto run =
      vectorised<Element>(shape, at.source, at.diff_destination, at.diff_source)
          ? (relu ? &backward_vectors<Element, true> : &backward_vectors<Element, false>)
          : (relu ? &backward_scalars<Element, true> : &backward_scalars<Element, false>);
  run(shape, at, epsilon, accumulate, scratch, stream);
}

}  // namespace

void batch_norm_backward(const NormShape& shape, const NormBackward<float>& at, float epsilon,
                         bool accumulate, const NormScratch& scratch, cudaStream_t stream) {
  backward(shape, at, epsilon, accumulate, scratch, stream);
}

void batch_norm_backward(const NormShape& shape, const NormBackward<std::uint16_t>& at,
                         float epsilon, bool accumulate, const NormScratch& scratch,
                         cudaStream_t stream) {
  backward(shape, at, epsilon, accumulate, scratch, stream);
}

}  // namespace parbench::cuda
