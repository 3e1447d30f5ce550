// A thread writes a group of adjacent channels of one pixel.
#include "kernels/cuda/device_code/images/padding_kernels.h"

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// Channels are counted in groups of `size`.
template <int size, class Element>
__global__ void __launch_bounds__(block_threads)
    pad_image_kernel(Element* destination, const Element* source, Padding at) {
  const std::int64_t groups = at.batch * at.out_height * at.out_width * at.channels;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    const std::int64_t channel = i % at.channels;
    const std::int64_t pixel = i / at.channels;
    const std::int64_t x = pixel % at.out_width - at.left;
    const std::int64_t y = pixel / at.out_width % at.out_height - at.top;
    const std::int64_t image = pixel / at.out_width / at.out_height;
    Group<Element, size> values;
    if (y >= 0 && y < at.height && x >= 0 && x < at.width) {
      const std::int64_t from = (image * at.height + y) * at.width + x;
      values = load<size>(source + (from * at.channels + channel) * size);
    } else {
#pragma unroll
      for (int k = 0; k < size; ++k) values.at[k] = narrowed<Element>(0.0F);
    }
    store<size>(destination + i * size, values);
  }
}

template <int size, class Element>
void launch_padding(Element* destination, const Element* source, Padding padding,
                    cudaStream_t stream) {
  padding.channels /= size;
  const std::int64_t groups =
      padding.batch * padding.out_height * padding.out_width * padding.channels;
  PARBENCH_LAUNCH(blocks_for(groups), block_threads, stream, pad_image_kernel<size, Element>,
                  destination, source, padding);
}

}  // namespace

void pad_image(void* destination, const void* source, DType dtype, const Padding& padding,
               cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int size = group_size<Element>;
    auto* to = static_cast<Element*>(destination);
    const auto* from = static_cast<const Element*>(source);
    if (padding.channels % size == 0 && holds_groups<size>(to) && holds_groups<size>(from)) {
      launch_padding<size>(to, from, padding, stream);
    } else {
      launch_padding<1>(to, from, padding, stream);
    }
  });
}

}  // namespace parbench::cuda
