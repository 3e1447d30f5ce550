// Helpers of operators: selections along a dimension, shapes, and formulas.
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

/// Returns whether the first dimension consists of the samples only.
[[nodiscard]] inline bool starts_with_samples(const general::Extents& shape) {
  return shape.size() > 1 && shape.front() == general::Extent{1, true};
}

/// Returns a shape with another dimension in front of `dimension`, and without one.
[[nodiscard]] general::Extents with_dimension(general::Extents shape, std::size_t dimension,
                                              general::Extent extent = {});
[[nodiscard]] general::Extents without_dimension(general::Extents shape, std::size_t dimension);
/// Returns a term without some of its dimensions, which have the extent 1. Negative axes count from
/// the end.
[[nodiscard]] Term squeezed(Term x, const general::Axes& axes);

/// Returns a matrix: the dimensions before `dimension` joined, and those from it on.
[[nodiscard]] Term divided_at(Term x, std::size_t dimension);

/// Returns the extents requested by a list of integers: −1 for the remainder, 0 for the extent of
/// `from` unless `keeps_zeros`. If the file has a fixed number of samples, the list does not
/// mention them; they keep their position in `from`, with the same number of elements inside of
/// them. Throws CannotTranslate, or std::invalid_argument for more elements than fit any memory.
[[nodiscard]] general::Extents reshaped_extents(const general::Extents& from,
                                                const std::vector<std::int64_t>& wanted,
                                                std::int64_t samples_of_file, bool keeps_zeros);

/// Returns one number for each index in a dimension of a tensor, for broadcasting.
[[nodiscard]] Term along(Term values, std::size_t dimension, std::size_t rank);

/// Repeats each element of a dimension, copies one after the other.
[[nodiscard]] Term repeated(Term x, std::size_t axis, std::int64_t times);

/// Returns those elements of a dimension, in that order.
[[nodiscard]] Term taken(Term x, std::size_t axis, const std::vector<std::int64_t>& indices);

/// Returns 1/(1 + exp(−x)), computed by tanh, which never overflows.
[[nodiscard]] Term sigmoid(Term x);
/// Softmax over several dimensions together.
[[nodiscard]] Term softmax_over(Term x, const general::Axes& axes);

}  // namespace parbench::onnx_import
