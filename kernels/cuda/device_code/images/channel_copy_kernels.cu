// A thread copies a group of adjacent channels of one pixel.
#include "kernels/cuda/device_code/images/channel_copy_kernels.h"

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// Channels are counted in groups of `size`.
template <int size, class Element>
__global__ void __launch_bounds__(block_threads)
    copy_columns_kernel(Element* destination, const Element* source, ColumnCopy copy) {
  const std::int64_t groups = copy.rows * copy.count;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    const std::int64_t row = i / copy.count;
    const std::int64_t column = i % copy.count;
    const std::int64_t from = row * copy.source_channels + copy.source_first + column;
    const std::int64_t to = row * copy.destination_channels + copy.destination_first + column;
    store<size>(destination + to * size, load<size>(source + from * size));
  }
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    shuffle_columns_kernel(Element* destination, const Element* source, std::int64_t count,
                           std::int64_t channels, std::int64_t groups) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const std::int64_t channel = i % channels;
    const std::int64_t from = channel % groups * (channels / groups) + channel / groups;
    destination[i] = source[i - channel + from];
  }
}

template <int size, class Element>
void launch_copy(Element* destination, const Element* source, ColumnCopy copy,
                 cudaStream_t stream) {
  for (std::int64_t* channels : {&copy.count, &copy.source_channels, &copy.destination_channels,
                                 &copy.source_first, &copy.destination_first}) {
    *channels /= size;
  }
  PARBENCH_LAUNCH(blocks_for(copy.rows * copy.count), block_threads, stream,
                  copy_columns_kernel<size, Element>, destination, source, copy);
}

}  // namespace

void copy_columns(void* destination, const void* source, DType dtype, const ColumnCopy& copy,
                  cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int size = group_size<Element>;
    auto* to = static_cast<Element*>(destination);
    const auto* from = static_cast<const Element*>(source);
    const bool whole = copy.count % size == 0 && copy.source_channels % size == 0 &&
                       copy.destination_channels % size == 0 && copy.source_first % size == 0 &&
                       copy.destination_first % size == 0;
    if (whole && holds_groups<size>(to) && holds_groups<size>(from)) {
      launch_copy<size>(to, from, copy, stream);
    } else {
      launch_copy<1>(to, from, copy, stream);
    }
  });
}

void shuffle_columns(void* destination, const void* source, DType dtype, std::int64_t rows,
                     std::int64_t channels, std::int64_t groups, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(rows * channels), block_threads, stream,
                    shuffle_columns_kernel<Element>, static_cast<Element*>(destination),
                    static_cast<const Element*>(source), rows * channels, channels, groups);
  });
}

}  // namespace parbench::cuda
