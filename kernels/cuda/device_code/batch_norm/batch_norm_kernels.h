// Kernels of batch normalisation over activations with channels last.
//
// Statistics take one launch over the activation. Every block adds the rows of its slice, the last
// block of a group of slices adds the group's sums, and the last of these blocks adds the sums of
// the groups. Sums are added in the order of slices, so they do not depend on which block was last.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device_code/batch_norm/batch_norm_columns.h"

namespace parbench::cuda {

/// An activation as a matrix, rows × channels, and its division into slices of rows, which have
/// separate sums.
struct NormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  int slices = 1;

  int slices_of_group = 1;  // number of slices in a group, whose sums are added first

  [[nodiscard]] PARBENCH_HOST_DEVICE int groups() const {
    return (slices + slices_of_group - 1) / slices_of_group;
  }

  /// Number of floats for the sums of all slices.
  [[nodiscard]] std::size_t partial_count() const {
    return 2 * static_cast<std::size_t>(slices) * static_cast<std::size_t>(channels);
  }
  /// Number of doubles for the sums of all groups and the totals.
  [[nodiscard]] std::size_t total_count() const {
    return 2 * static_cast<std::size_t>(groups() + 1) * static_cast<std::size_t>(channels);
  }
};

/// Divides a matrix into so few slices that `multiprocessors` multiprocessors can run all blocks at
/// once and that, if there are several, a thread has at least about 4 rows. Makes one slice if more
/// would need more counters than a stream has.
[[nodiscard]] NormShape norm_shape(std::int64_t rows, std::int64_t channels, int multiprocessors);

/// Scratch memory, aligned to at least 16 bytes, and counters.
struct NormScratch {
  float* partials;         // partial_count() elements
  double* totals;          // total_count() elements
  float* coefficients;     // per channel two in the forward pass, three in the backward pass
  unsigned int* counters;  // counters of the stream (arrival_counters.h)
};

/// Returns the bytes of a mask with one bit per element, set for positive inputs of the ReLU
/// (batch_norm_columns.h has the order of bits).
[[nodiscard]] constexpr std::int64_t mask_bytes(std::int64_t elements) {
  return (elements + 7) / 8;
}

/// Pointers of a forward pass. Element is float, or std::uint16_t for bf16.
template <class Element>
struct NormForward {
  const Element* source;
  const float* scale;
  const float* shift;
  float* running_mean;
  float* running_variance;
  Element* destination;
  float* mean;
  float* variance;        // biased variance
  std::uint8_t* mask;     // null: no ReLU
  const Element* addend;  // added before the ReLU; null: none
};

/// Normalises by the statistics of the batch, which must have at least two rows, and moves the
/// running statistics by `momentum` towards the mean and the unbiased variance.
void batch_norm_forward(const NormShape& shape, const NormForward<float>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream);
void batch_norm_forward(const NormShape& shape, const NormForward<std::uint16_t>& at, float epsilon,
                        float momentum, const NormScratch& scratch, cudaStream_t stream);

/// Pointers of a backward pass. `diff_source` may be `diff_destination`.
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

/// With `accumulate`, the gradients of scale and shift are added to diff_scale and diff_shift.
void batch_norm_backward(const NormShape& shape, const NormBackward<float>& at, float epsilon,
                         bool accumulate, const NormScratch& scratch, cudaStream_t stream);
void batch_norm_backward(const NormShape& shape, const NormBackward<std::uint16_t>& at,
                         float epsilon, bool accumulate, const NormScratch& scratch,
                         cudaStream_t stream);

/// Pointers of the backward operation of the addition and ReLU in a forward pass with an addend:
/// diff_source = a [+ b] where the mask has a bit, otherwise 0. `diff_source` may be `a` or `b`.
template <class Element>
struct AddReluGradient {
  const std::uint8_t* mask;
  const Element* a;
  const Element* b;  // null: only `a`
  Element* diff_source;
};

void add_relu_backward(const NormShape& shape, const AddReluGradient<float>& at,
                       cudaStream_t stream);
void add_relu_backward(const NormShape& shape, const AddReluGradient<std::uint16_t>& at,
                       cudaStream_t stream);

/// out = 1/sqrt(variance + epsilon), which cuDNN saves, for each channel.
void inverse_deviations(float* out, const float* variance, std::int64_t channels, float epsilon,
                        cudaStream_t stream);
/// The inverse function: out = 1/inverse² − epsilon, at least 0. Its error is at most a few units
/// in the last place of variance + epsilon.
void variances_of(float* out, const float* inverse, std::int64_t channels, float epsilon,
                  cudaStream_t stream);

}  // namespace parbench::cuda
