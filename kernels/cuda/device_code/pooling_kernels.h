// Pooling over images with channels last (NHWC). Arithmetic is in f32 whatever the element type;
// every result is one sum in a fixed order. Pointers need the alignment of an element; kernels are
// fastest if pointers, and the bytes of all channels, are multiples of 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Number of positions in a window that an index of one byte can distinguish; one value is unused.
inline constexpr std::int64_t max_window_positions = 255;

/// Square windows over an image. Every window must contain at least one element of the image.
struct PoolingWindows {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t out_height;
  std::int64_t out_width;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;

  [[nodiscard]] std::int64_t source_count() const { return batch * height * width * channels; }
  [[nodiscard]] std::int64_t destination_count() const {
    return batch * out_height * out_width * channels;
  }
};

/// `indices`: for each element of the destination, row · kernel + column of the maximum within its
/// window, the first of equal ones. A NaN replaces the elements before it, and any later element
/// replaces a NaN.
void max_pool(const void* source, void* destination, std::uint8_t* indices, DType dtype,
              const PoolingWindows& windows, cudaStream_t stream);

/// diff_source = for each element, the sum over the windows whose maximum it is.
void max_pool_backward(const void* diff_destination, const std::uint8_t* indices, void* diff_source,
                       DType dtype, const PoolingWindows& windows, cudaStream_t stream);

/// The mean of each window: over its elements inside the image, or with `count_padding` over
/// kernel².
void average_windows(const void* source, void* destination, DType dtype,
                     const PoolingWindows& windows, bool count_padding, cudaStream_t stream);

/// diff_source = for each element, the sum over the windows that contain it, of an equal share of
/// each.
void average_windows_backward(const void* diff_destination, void* diff_source, DType dtype,
                              const PoolingWindows& windows, bool count_padding,
                              cudaStream_t stream);

/// Mean over pixels, from {batch, pixels, channels} to {batch, channels}.
void average_pool(const void* source, void* destination, DType dtype, std::int64_t batch,
                  std::int64_t pixels, std::int64_t channels, cudaStream_t stream);

/// The gradient of a mean: an equal share for every pixel.
void average_pool_backward(const void* diff_destination, void* diff_source, DType dtype,
                           std::int64_t batch, std::int64_t pixels, std::int64_t channels,
                           cudaStream_t stream);

}  // namespace parbench::cuda
