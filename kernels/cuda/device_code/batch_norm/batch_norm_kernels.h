// Kernels of batch normalisation over activations with the channels innermost.
//
// Statistics take one launch over the activation. Every block adds up the rows of its slice; the
// last block of a group of slices adds up the group's sums, and the last of those the groups'. Sums
// are taken in the order of slices, so they do not depend on which block was last.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device_code/batch_norm/batch_norm_columns.h"

namespace parbench::cuda {

/// An activation seen as a matrix, rows × channels, and the slices of rows that are added up apart.
struct NormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  int slices = 1;

  int slices_of_group = 1;

  [[nodiscard]] PARBENCH_HOST_DEVICE int groups() const {
    return (slices + slices_of_group - 1) / slices_of_group;
  }

  /// Floats for the sums of all slices.
  [[nodiscard]] std::size_t partial_count() const {
    return 2 * static_cast<std::size_t>(slices) * static_cast<std::size_t>(channels);
  }
  /// Doubles for the sums of all groups, and of all of these.
  [[nodiscard]] std::size_t total_count() const {
    return 2 * static_cast<std::size_t>(groups() + 1) * static_cast<std::size_t>(channels);
  }
};

/// Divides a matrix so that it fills that many multiprocessors once.
[[nodiscard]] NormShape norm_shape(std::int64_t rows, std::int64_t channels, int multiprocessors);

/// Scratch memory, aligned to 16 bytes at least, and counters.
struct NormScratch {
  float* partials;         // NormShape::partial_count()
  double* totals;          // NormShape::total_count()
  float* coefficients;     // three of each channel
  unsigned int* counters;  // the stream's (arrival_counters.h)
};

/// Bytes of a mask: a bit of each element, set where the ReLU let it pass (batch_norm_columns.h
/// has their order).
[[nodiscard]] constexpr std::int64_t mask_bytes(std::int64_t elements) {
  return (elements + 7) / 8;
}

/// Addresses of a forward pass. Element is float, or std::uint16_t for bf16.
template <class Element>
struct NormForward {
  const Element* source;
  const float* scale;
  const float* shift;
  float* running_mean;
  float* running_variance;
  Element* destination;
  float* mean;
  float* variance;        // biased
  std::uint8_t* mask;     // null: no ReLU
  const Element* addend;  // added ahead of the ReLU; null: none
};

/// At least two rows. Running statistics move by `momentum` towards the mean and the unbiased
/// variance.
void batch_norm_forward(const NormShape& shape, const NormForward<float>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream);
void batch_norm_forward(const NormShape& shape, const NormForward<std::uint16_t>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream);

/// Addresses of a backward pass. `diff_source` may be `diff_destination`.
template <class Element>
struct NormBackward {
  const Element* source;
  const Element* diff_destination;
  const float* mean;
  const float* variance;
  const float* scale;
  const std::uint8_t* mask;  // null: no ReLU
  Element* diff_source;
  float* diff_scale;
  float* diff_shift;
};

/// `accumulate` adds to diff_scale and diff_shift.
void batch_norm_backward(const NormShape& shape, const NormBackward<float>& at, float epsilon,
                         bool accumulate, const NormScratch& scratch, cudaStream_t stream);
void batch_norm_backward(const NormShape& shape, const NormBackward<std::uint16_t>& at,
                         float epsilon, bool accumulate, const NormScratch& scratch,
                         cudaStream_t stream);

/// Addresses of the backward step of a forward pass with an addend, from behind its ReLU to ahead
/// of the addition: diff_source = a [+ b] where the mask has a bit, else 0. `diff_source` may be
/// `a` or `b`.
template <class Element>
struct AddReluGradient {
  const std::uint8_t* mask;
  const Element* a;
  const Element* b;  // null: `a` alone
  Element* diff_source;
};

void add_relu_backward(const NormShape& shape, const AddReluGradient<float>& at,
                       cudaStream_t stream);
void add_relu_backward(const NormShape& shape, const AddReluGradient<std::uint16_t>& at,
                       cudaStream_t stream);

}  // namespace parbench::cuda
