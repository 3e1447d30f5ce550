// Means over the pixels of an image, and their gradient.
#include "kernels/cuda/device_code/pooling_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

constexpr int tile_groups = 32;  // extent x of a block: groups of adjacent channels
constexpr int slices = 8;        // extent y of a block: parts of the pixels

/// A block processes `tile_groups` groups of channels of one image at a time. The order of
/// additions depends only on the number of pixels.
template <int size, class Element>
__global__ void __launch_bounds__(tile_groups* slices)
    average_pool_kernel(const Element* source, Element* destination, std::int64_t batch,
                        std::int64_t pixels, std::int64_t channels) {
  __shared__ float partial[slices][size][tile_groups];
  const std::int64_t groups = channels / size;
  const std::int64_t tiles_per_image = (groups + tile_groups - 1) / tile_groups;
  for (std::int64_t tile = blockIdx.x; tile < batch * tiles_per_image; tile += gridDim.x) {
    const std::int64_t image = tile / tiles_per_image;
    const std::int64_t group = tile % tiles_per_image * tile_groups + threadIdx.x;
    const bool inside = group < groups;
    float sum[size] = {};
    if (inside) {
      const Element* first = source + image * pixels * channels + group * size;
      for (std::int64_t pixel = threadIdx.y; pixel < pixels; pixel += slices) {
        const Group<Element, size> values = load<size>(first + pixel * channels);
#pragma unroll
        for (int i = 0; i < size; ++i) sum[i] += widened(values.at[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < size; ++i) partial[threadIdx.y][i][threadIdx.x] = sum[i];
    __syncthreads();
    if (inside && threadIdx.y == 0) {
      Group<Element, size> result;
#pragma unroll
      for (int i = 0; i < size; ++i) {
        float total = 0;
        for (int slice = 0; slice < slices; ++slice) total += partial[slice][i][threadIdx.x];
        result.at[i] = narrowed<Element>(total / static_cast<float>(pixels));
      }
      store<size>(destination + image * channels + group * size, result);
    }
    __syncthreads();  // the next tile overwrites `partial`
  }
}

template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads)
    average_pool_backward_kernel(const Element* diff_destination, Element* diff_source, Index tasks,
                                 Index pixels, Index groups) {
  const auto stride = static_cast<Index>(grid_threads());
  for (auto task = static_cast<Index>(grid_thread()); task < tasks; task += stride) {
    const Index image = task / (pixels * groups);
    const Index group = task % groups;
    const auto whole = load<size>(diff_destination + (image * groups + group) * size);
    Group<Element, size> share;
#pragma unroll
    for (int i = 0; i < size; ++i) {
      share.at[i] = narrowed<Element>(widened(whole.at[i]) / static_cast<float>(pixels));
    }
    store<size>(diff_source + task * size, share);
  }
}

/// Calls function(std::integral_constant<int, size>) with the size of groups of channels that both
/// tensors allow: group_size<Element>, or 1.
template <class Element, class Function>
void with_group_size(const Element* a, const Element* b, std::int64_t channels,
                     const Function& function) {
  constexpr int size = group_size<Element>;
  if (holds_groups<size>(a) && holds_groups<size>(b) && channels % size == 0) {
    function(std::integral_constant<int, size>{});
  } else {
    function(std::integral_constant<int, 1>{});
  }
}

}  // namespace

void average_pool(const void* source, void* destination, DType dtype, std::int64_t batch,
                  std::int64_t pixels, std::int64_t channels, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    const auto* in = static_cast<const Element*>(source);
    auto* out = static_cast<Element*>(destination);
    with_group_size(in, out, channels, [&](auto constant) {
      constexpr int size = decltype(constant)::value;
      const std::int64_t tiles = batch * ((channels / size + tile_groups - 1) / tile_groups);
      const dim3 block(tile_groups, slices);
      PARBENCH_LAUNCH(blocks_for(tiles * block_threads), block, stream,
                      average_pool_kernel<size, Element>, in, out, batch, pixels, channels);
    });
  });
}

void average_pool_backward(const void* diff_destination, void* diff_source, DType dtype,
                           std::int64_t batch, std::int64_t pixels, std::int64_t channels,
                           cudaStream_t stream) {
  const std::int64_t count = batch * pixels * channels;
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    const auto* in = static_cast<const Element*>(diff_destination);
    auto* out = static_cast<Element*>(diff_source);
    with_group_size(in, out, channels, [&](auto constant) {
      constexpr int size = decltype(constant)::value;
      const unsigned int blocks = blocks_for(count / size);
      const auto launch = [&](auto index) {
        using Index = decltype(index);
        PARBENCH_LAUNCH(blocks, block_threads, stream,
                        average_pool_backward_kernel<size, Index, Element>, in, out,
                        static_cast<Index>(count / size), static_cast<Index>(pixels),
                        static_cast<Index>(channels / size));
      };
      if (count < small_index_end) {
        launch(std::int32_t{});
      } else {
        launch(std::int64_t{});
      }
    });
  });
}

}  // namespace parbench::cuda
