// Means over windows: a thread computes a group of adjacent channels of one pixel.
#include "kernels/cuda/device_code/images/pooling_windows.cuh"

namespace parbench::cuda {
namespace {

/// The part of a window that is inside the image.
template <class Index>
struct WindowPart {
  Index first_y, end_y, first_x, end_x;

  __device__ WindowPart(const Windows<Index>& w, Index row, Index column) {
    const Index top = row * w.stride - w.padding;
    const Index left = column * w.stride - w.padding;
    first_y = max(Index{0}, top);
    first_x = max(Index{0}, left);
    end_y = min(w.height, top + w.kernel);
    end_x = min(w.width, left + w.kernel);
  }

  /// Returns the divisor of the sum over the window.
  __device__ float divisor(const Windows<Index>& w, bool count_padding) const {
    return static_cast<float>(count_padding ? w.kernel * w.kernel
                                            : (end_y - first_y) * (end_x - first_x));
  }
};

template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads)
    average_windows_kernel(Windows<Index> w, const Element* source, Element* destination,
                           bool count_padding) {
  const Index tasks = w.batch * w.out_height * w.out_width * w.groups;
  const auto stride = static_cast<Index>(grid_threads());
  for (auto task = static_cast<Index>(grid_thread()); task < tasks; task += stride) {
    const WindowCoordinates<Index> at(task, w.out_height, w.out_width, w.groups);
    const WindowPart<Index> part(w, at.row, at.column);
    float sum[size] = {};
    for (Index y = part.first_y; y < part.end_y; ++y) {
      for (Index x = part.first_x; x < part.end_x; ++x) {
        const Index pixel = (at.image * w.height + y) * w.width + x;
        const auto values = load<size>(source + (pixel * w.groups + at.group) * size);
#pragma unroll
        for (int i = 0; i < size; ++i) sum[i] += widened(values.at[i]);
      }
    }
    const float divisor = part.divisor(w, count_padding);
    Group<Element, size> result;
#pragma unroll
    for (int i = 0; i < size; ++i) result.at[i] = narrowed<Element>(sum[i] / divisor);
    store<size>(destination + task * size, result);
  }
}

/// Compiled for four blocks per multiprocessor, as max_pool_backward_kernel.
template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads, 4)
    average_windows_backward_kernel(Windows<Index> w, const Element* diff_destination,
                                    Element* diff_source, bool count_padding) {
  const Index tasks = w.batch * w.height * w.width * w.groups;
  const auto stride = static_cast<Index>(grid_threads());
  for (auto task = static_cast<Index>(grid_thread()); task < tasks; task += stride) {
    const WindowCoordinates<Index> at(task, w.height, w.width, w.groups);
    const Covering<Index> rows(at.row + w.padding, w.kernel, w.stride, w.out_height);
    const Covering<Index> columns(at.column + w.padding, w.kernel, w.stride, w.out_width);
    float sum[size] = {};
    for (Index y = rows.first; y <= rows.last; ++y) {
      for (Index x = columns.first; x <= columns.last; ++x) {
        const float divisor = WindowPart<Index>(w, y, x).divisor(w, count_padding);
        const Index window = (at.image * w.out_height + y) * w.out_width + x;
        const auto values = load<size>(diff_destination + (window * w.groups + at.group) * size);
#pragma unroll
        for (int i = 0; i < size; ++i) sum[i] += widened(values.at[i]) / divisor;
      }
    }
    Group<Element, size> result;
#pragma unroll
    for (int i = 0; i < size; ++i) result.at[i] = narrowed<Element>(sum[i]);
    store<size>(diff_source + task * size, result);
  }
}

}  // namespace

void average_windows(const void* source, void* destination, DType dtype,
                     const PoolingWindows& windows, bool count_padding, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int whole = group_size<Element>;
    const auto* in = static_cast<const Element*>(source);
    auto* out = static_cast<Element*>(destination);
    with_windows<Element>(windows, holds_groups<whole>(in) && holds_groups<whole>(out),
                          [&]<class Index>(const Windows<Index>& typed, auto constant) {
                            constexpr int size = decltype(constant)::value;
                            PARBENCH_LAUNCH(blocks_for(windows.destination_count() / size),
                                            block_threads, stream,
                                            average_windows_kernel<size, Index, Element>, typed, in,
                                            out, count_padding);
                          });
  });
}

void average_windows_backward(const void* diff_destination, void* diff_source, DType dtype,
                              const PoolingWindows& windows, bool count_padding,
                              cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int whole = group_size<Element>;
    const auto* in = static_cast<const Element*>(diff_destination);
    auto* out = static_cast<Element*>(diff_source);
    with_windows<Element>(windows, holds_groups<whole>(in) && holds_groups<whole>(out),
                          [&]<class Index>(const Windows<Index>& typed, auto constant) {
                            constexpr int size = decltype(constant)::value;
                            PARBENCH_LAUNCH(blocks_for(windows.source_count() / size),
                                            block_threads, stream,
                                            average_windows_backward_kernel<size, Index, Element>,
                                            typed, in, out, count_padding);
                          });
  });
}

}  // namespace parbench::cuda
