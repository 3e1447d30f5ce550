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

/// Return a shape with `extent` inserted before `dimension`, or a shape without `dimension`.
[[nodiscard]] general::Extents with_dimension(general::Extents shape, std::size_t dimension,
                                              general::Extent extent = {});
[[nodiscard]] general::Extents without_dimension(general::Extents shape, std::size_t dimension);
/// Returns a term without the dimensions `axes`, which have extent 1. Negative axes count from the
/// end.
[[nodiscard]] Term squeezed(Term x, const general::Axes& axes);

/// Reshapes to a matrix: the dimensions before `dimension` joined, and those from `dimension` on
/// joined.
[[nodiscard]] Term divided_at(Term x, std::size_t dimension);

/// Returns the extents that operator Reshape gives a tensor with the extents `from`. In `wanted`,
/// −1 stands for the remaining elements, 0 for the extent of `from` unless `keeps_zeros`, and a
/// multiple of samples_prime for an extent with the samples. Without such a multiple, the samples
/// are in the extent in which they keep their stride; `wanted` may have that extent for the
/// `samples_of_file` samples of the exported file. Throws CannotTranslate, or std::invalid_argument
/// for too many elements (general::count_of).
[[nodiscard]] general::Extents reshaped_extents(const general::Extents& from,
                                                const std::vector<std::int64_t>& wanted,
                                                std::int64_t samples_of_file, bool keeps_zeros);

/// Reshapes values, one for each index of `dimension`, for broadcasting to `rank` dimensions.
[[nodiscard]] Term along(Term values, std::size_t dimension, std::size_t rank);

/// Repeats each element of a dimension, `times` times in a row.
[[nodiscard]] Term repeated(Term x, std::size_t axis, std::int64_t times);

/// Returns elements of a dimension, in the order of `indices`; negative ones count from the end.
[[nodiscard]] Term taken(Term x, std::size_t axis, const std::vector<std::int64_t>& indices);

/// Returns 1/(1 + exp(−x)), computed by tanh, which never overflows.
[[nodiscard]] Term sigmoid(Term x);
/// Returns the softmax over several dimensions together.
[[nodiscard]] Term softmax_over(Term x, const general::Axes& axes);

}  // namespace parbench::onnx_import
