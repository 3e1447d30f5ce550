// Kernels of the backward operation of an addition and its ReLU after a batch normalisation.
#include "kernels/cuda/device_code/batch_norm/batch_norm_device.cuh"

namespace parbench::cuda {
namespace {

// A thread processes the elements of one byte of the mask. It reads all of them before it writes
// any, so that a gradient may be overwritten in place.
template <class Element, bool two>
__global__ __launch_bounds__(block_threads) void masked_vectors_kernel(AddReluGradient<Element> at,
                                                                       std::int64_t groups) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; group < groups; group += stride) {
    const std::int64_t first = first_of_group(group, paired_threads<Element, vector_width>);
    Pack<Element, vector_width> a;
    Pack<Element, vector_width> b;
    a.load(at.a + first);
    if constexpr (two) b.load(at.b + first);
    const unsigned int bits = at.mask[group];
    float values[vector_width];
    a.unpack(values);
    if constexpr (two) {
      float others[vector_width];
      b.unpack(others);
#pragma unroll
      for (int i = 0; i < vector_width; ++i) values[i] += others[i];
    }
#pragma unroll
    for (int i = 0; i < vector_width; ++i) {
      if ((bits >> static_cast<unsigned int>(i) & 1U) == 0) values[i] = 0;
    }
    a.pack(values);
    a.store(at.diff_source + first);
  }
}

template <class Element, bool two>
__global__ __launch_bounds__(block_threads) void masked_scalars_kernel(AddReluGradient<Element> at,
                                                                       std::int64_t count,
                                                                       bool paired) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; element < count; element += stride) {
    const MaskBit mask = mask_bit(element, paired);
    float value = widened(at.a[element]);
    if constexpr (two) value += widened(at.b[element]);
    const unsigned int bits = at.mask[mask.byte];
    const bool passes = (bits >> static_cast<unsigned int>(mask.bit) & 1U) != 0;
    narrow(passes ? value : 0.0F, at.diff_source[element]);
  }
}

template <class Element, bool two>
void backward(const NormShape& shape, const AddReluGradient<Element>& at, cudaStream_t stream) {
  const std::int64_t count = shape.rows * shape.channels;
  if (vectorised<Element>(shape, at.a, at.b, at.diff_source)) {
    const std::int64_t groups = count / vector_width;
    PARBENCH_LAUNCH(blocks_for(groups), block_threads, stream, masked_vectors_kernel<Element, two>,
                    at, groups);
  } else {
    PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, masked_scalars_kernel<Element, two>,
                    at, count, pairs<Element>(shape.channels));
  }
}

}  // namespace

void add_relu_backward(const NormShape& shape, const AddReluGradient<float>& at,
                       cudaStream_t stream) {
  const auto run = at.b != nullptr ? &backward<float, true> : &backward<float, false>;
  run(shape, at, stream);
}

void add_relu_backward(const NormShape& shape, const AddReluGradient<std::uint16_t>& at,
                       cudaStream_t stream) {
  const auto run =
      at.b != nullptr ? &backward<std::uint16_t, true> : &backward<std::uint16_t, false>;
  run(shape, at, stream);
}

}  // namespace parbench::cuda
