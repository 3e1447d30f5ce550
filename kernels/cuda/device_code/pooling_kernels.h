// Pooling over images with channels last (NHWC). Arithmetic is in f32 whatever the element type,
// and sums are added in a fixed order. Pointers need the alignment of an element; kernels are
// fastest if pointers, and the bytes of all channels, are multiples of 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Maximum number of positions in a window of max pooling, whose indices have one byte.
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

/// Writes the maximum of each window, and to `indices` its position within the window, row · kernel
/// + column; the first position of equal maxima. A NaN replaces the elements before it, and any
/// later element replaces a NaN.
void max_pool(const void* source, void* destination, std::uint8_t* indices, DType dtype,
              const PoolingWindows& windows, cudaStream_t stream);

/// Writes, for each element of the source, the sum of the gradients of the windows whose maximum it
/// is.
void max_pool_backward(const void* diff_destination, const std::uint8_t* indices, void* diff_source,
                       DType dtype, const PoolingWindows& windows, cudaStream_t stream);

/// Writes the mean of each window: the sum of its elements inside the image, divided by their
/// number, or with `count_padding` by kernel².
void average_windows(const void* source, void* destination, DType dtype,
                     const PoolingWindows& windows, bool count_padding, cudaStream_t stream);

/// Writes, for each element of the source, the sum of the gradients of the windows that contain it,
/// each divided by the divisor of the window's mean.
void average_windows_backward(const void* diff_destination, void* diff_source, DType dtype,
                              const PoolingWindows& windows, bool count_padding,
                              cudaStream_t stream);

/// Writes the means over the pixels, from {batch, pixels, channels} to {batch, channels}.
void average_pool(const void* source, void* destination, DType dtype, std::int64_t batch,
                  std::int64_t pixels, std::int64_t channels, cudaStream_t stream);

/// Writes the gradient of `average_pool`: diff_destination / pixels for every pixel.
void average_pool_backward(const void* diff_destination, void* diff_source, DType dtype,
                           std::int64_t batch, std::int64_t pixels, std::int64_t channels,
                           cudaStream_t stream);

}  // namespace parbench::cuda
