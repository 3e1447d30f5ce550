// Positions of windows on images, for pooling kernels. For .cu files only.
#pragma once

#include "kernels/cuda/device_code/pooling_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {

/// PoolingWindows with sizes of type Index, and with channels counted in groups.
template <class Index>
struct Windows {
  Index batch;
  Index groups;  // groups of channels per pixel
  Index height;
  Index width;
  Index out_height;
  Index out_width;
  Index kernel;
  Index stride;
  Index padding;
};

template <class Index>
[[nodiscard]] Windows<Index> windows_of(const PoolingWindows& all, int size) {
  // A stride larger than the padded image leaves only one window, so it can be limited. It might
  // not fit the type.
  const std::int64_t stride =
      std::min(all.stride, std::max(all.height, all.width) + 2 * all.padding);
  return {static_cast<Index>(all.batch),      static_cast<Index>(all.channels / size),
          static_cast<Index>(all.height),     static_cast<Index>(all.width),
          static_cast<Index>(all.out_height), static_cast<Index>(all.out_width),
          static_cast<Index>(all.kernel),     static_cast<Index>(stride),
          static_cast<Index>(all.padding)};
}

/// Coordinates of a thread's task in images {batch, height, width, groups}.
template <class Index>
struct WindowCoordinates {
  Index image;
  Index row;
  Index column;
  Index group;

  __device__ WindowCoordinates(Index task, Index height, Index width, Index groups) {
    group = task % groups;
    task /= groups;
    column = task % width;
    task /= width;
    row = task % height;
    image = task / height;
  }
};

/// The windows that contain a row (or column): `first` to `last`.
template <class Index>
struct Covering {
  Index first;
  Index last;

  /// `position`: index of the row (or column), counted from the first one of the padding.
  __device__ Covering(Index position, Index kernel, Index stride, Index windows)
      : first(position < kernel ? 0 : (position - kernel) / stride + 1),
        last(min(position / stride, windows - 1)) {}
};

/// Calls function(Windows, std::integral_constant<int, group size>) with an index type that fits.
template <class Element, class Function>
void with_windows(const PoolingWindows& all, bool aligned, const Function& function) {
  constexpr int size = group_size<Element>;
  const bool small =
      all.source_count() < small_index_end && all.destination_count() < small_index_end;
  const auto sized = [&](auto constant) {
    if (small) {
      function(windows_of<std::int32_t>(all, constant), constant);
    } else {
      function(windows_of<std::int64_t>(all, constant), constant);
    }
  };
  if (aligned && all.channels % size == 0) {
    sized(std::integral_constant<int, size>{});
  } else {
    sized(std::integral_constant<int, 1>{});
  }
}

}  // namespace parbench::cuda
