// Functions that operators share: selections along a dimension, shapes, and formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/models/general/term.h"

namespace parbench::onnx_import {

using general::Term;

[[nodiscard]] inline std::int64_t signed_size(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

/// Returns whether the first of several dimensions consists of the samples only.
[[nodiscard]] inline bool starts_with_samples(const general::Extents& shape) {
  return shape.size() > 1 && shape.front() == general::Extent{1, true};
}

/// Returns a shape with a dimension of `extent` inserted before `dimension`.
[[nodiscard]] general::Extents with_dimension(general::Extents shape, std::size_t dimension,
                                              general::Extent extent = {});
/// Returns a shape without one of its dimensions.
[[nodiscard]] general::Extents without_dimension(general::Extents shape, std::size_t dimension);
/// Returns a term without the dimensions `axes`, whose extents are 1. Negative axes count from the
/// end.
[[nodiscard]] Term squeezed(Term x, const general::Axes& axes);

/// Reshapes to a matrix: the dimensions before `dimension` are joined to rows, and the others to
/// columns.
[[nodiscard]] Term divided_at(Term x, std::size_t dimension);

/// Returns the extents to which the operator Reshape changes the extents `from`. In `wanted`, −1
/// stands for the remaining elements, 0 for the extent of `from` unless `keeps_zeros`, and
/// multiples of samples_prime contain the samples. If none does, the samples are in the extents
/// that were exported for `samples_of_file` samples, in a dimension that keeps the number of
/// elements inside of the samples. Throws CannotTranslate, or std::invalid_argument for more
/// elements than fit any memory.
[[nodiscard]] general::Extents reshaped_extents(const general::Extents& from,
                                                const std::vector<std::int64_t>& wanted,
                                                std::int64_t samples_of_file, bool keeps_zeros);

/// Reshapes `values`, one for each index in `dimension`, for broadcasting to tensors of `rank`
/// dimensions.
[[nodiscard]] Term along(Term values, std::size_t dimension, std::size_t rank);

/// Repeats each element of a dimension; the copies of an element follow each other.
[[nodiscard]] Term repeated(Term x, std::size_t axis, std::int64_t times);

/// Returns the elements of a dimension at `indices`, in that order. Negative indices count from the
/// end.
[[nodiscard]] Term taken(Term x, std::size_t axis, const std::vector<std::int64_t>& indices);

/// Returns 1/(1 + exp(−x)), computed by tanh, which never overflows.
[[nodiscard]] Term sigmoid(Term x);
/// Returns the softmax over several dimensions together.
[[nodiscard]] Term softmax_over(Term x, const general::Axes& axes);

}  // namespace parbench::onnx_import
