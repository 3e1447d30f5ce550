// Max pooling: a thread computes a group of adjacent channels of one pixel of the output.
#include "kernels/cuda/device_code/images/pooling_windows.cuh"

namespace parbench::cuda {
namespace {

template <int size>
struct Maxima {
  float value[size];
  int position[size];

  __device__ explicit Maxima(int first_position) {
#pragma unroll
    for (int i = 0; i < size; ++i) {
      value[i] = -INFINITY;
      position[i] = first_position;
    }
  }

  template <class Element>
  __device__ void offer(const Group<Element, size>& group, int at) {
#pragma unroll
    for (int i = 0; i < size; ++i) {
      const float offered = widened(group.at[i]);
      if (offered <= value[i]) continue;
      value[i] = offered;
      position[i] = at;
    }
  }
};

template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads)
    max_pool_kernel(Windows<Index> w, const Element* source, Element* destination,
                    std::uint8_t* indices) {
  const Index tasks = w.batch * w.out_height * w.out_width * w.groups;
  const auto stride = static_cast<Index>(grid_threads());
  for (auto task = static_cast<Index>(grid_thread()); task < tasks; task += stride) {
    const WindowCoordinates<Index> at(task, w.out_height, w.out_width, w.groups);
    const Index top = at.row * w.stride - w.padding;
    const Index left = at.column * w.stride - w.padding;
    const Index first_y = max(Index{0}, -top);
    const Index first_x = max(Index{0}, -left);
    const Index end_y = min(w.kernel, w.height - top);
    const Index end_x = min(w.kernel, w.width - left);
    Maxima<size> best(static_cast<int>(first_y * w.kernel + first_x));
    for (Index y = first_y; y < end_y; ++y) {
      const Index row = (at.image * w.height + top + y) * w.width + left;
      for (Index x = first_x; x < end_x; ++x) {
        best.offer(load<size>(source + ((row + x) * w.groups + at.group) * size),
                   static_cast<int>(y * w.kernel + x));
      }
    }
    Group<Element, size> result;
    Group<std::uint8_t, size> positions;
#pragma unroll
    for (int i = 0; i < size; ++i) {
      result.at[i] = narrowed<Element>(best.value[i]);
      positions.at[i] = static_cast<std::uint8_t>(best.position[i]);
    }
    store<size>(destination + task * size, result);
    store<size>(indices + task * size, positions);
  }
}

template <int size, class Element>
__device__ void add_where(float (&sum)[size], const Group<Element, size>& gradient,
                          const Group<std::uint8_t, size>& positions, int position) {
#pragma unroll
  for (int i = 0; i < size; ++i) {
    if (positions.at[i] == position) sum[i] += widened(gradient.at[i]);
  }
}

/// Compiled for four blocks per multiprocessor: by default nvcc compiles for five, and spills
/// registers.
template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads, 4)
    max_pool_backward_kernel(Windows<Index> w, const Element* diff_destination,
                             const std::uint8_t* indices, Element* diff_source) {
  const Index tasks = w.batch * w.height * w.width * w.groups;
  const auto stride = static_cast<Index>(grid_threads());
  for (auto task = static_cast<Index>(grid_thread()); task < tasks; task += stride) {
    const WindowCoordinates<Index> at(task, w.height, w.width, w.groups);
    const Index row = at.row + w.padding;
    const Index column = at.column + w.padding;
    const Covering<Index> rows(row, w.kernel, w.stride, w.out_height);
    const Covering<Index> columns(column, w.kernel, w.stride, w.out_width);
    float sum[size] = {};
    for (Index y = rows.first; y <= rows.last; ++y) {
      for (Index x = columns.first; x <= columns.last; ++x) {
        const Index window = (at.image * w.out_height + y) * w.out_width + x;
        const Index from = (window * w.groups + at.group) * size;
        const Index position = (row - y * w.stride) * w.kernel + column - x * w.stride;
        add_where(sum, load<size>(diff_destination + from), load<size>(indices + from),
                  static_cast<int>(position));
      }
    }
    Group<Element, size> result;
#pragma unroll
    for (int i = 0; i < size; ++i) result.at[i] = narrowed<Element>(sum[i]);
    store<size>(diff_source + task * size, result);
  }
}

}  // namespace

void max_pool(const void* source, void* destination, std::uint8_t* indices, DType dtype,
              const PoolingWindows& windows, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int whole = group_size<Element>;
    const auto* in = static_cast<const Element*>(source);
    auto* out = static_cast<Element*>(destination);
    const bool aligned =
        holds_groups<whole>(in) && holds_groups<whole>(out) && holds_groups<whole>(indices);
    with_windows<Element>(
        windows, aligned, [&]<class Index>(const Windows<Index>& typed, auto constant) {
          constexpr int size = decltype(constant)::value;
          PARBENCH_LAUNCH(blocks_for(windows.destination_count() / size), block_threads, stream,
                          max_pool_kernel<size, Index, Element>, typed, in, out, indices);
        });
  });
}

void max_pool_backward(const void* diff_destination, const std::uint8_t* indices, void* diff_source,
                       DType dtype, const PoolingWindows& windows, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    constexpr int whole = group_size<Element>;
    const auto* in = static_cast<const Element*>(diff_destination);
    auto* out = static_cast<Element*>(diff_source);
    const bool aligned =
        holds_groups<whole>(in) && holds_groups<whole>(out) && holds_groups<whole>(indices);
    with_windows<Element>(
        windows, aligned, [&]<class Index>(const Windows<Index>& typed, auto constant) {
          constexpr int size = decltype(constant)::value;
          PARBENCH_LAUNCH(blocks_for(windows.source_count() / size), block_threads, stream,
                          max_pool_backward_kernel<size, Index, Element>, typed, in, indices, out);
        });
  });
}

}  // namespace parbench::cuda
