// Helpers of several operators: selections along a dimension, and formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::onnx_import {

[[nodiscard]] inline std::int64_t signed_size(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

/// Returns whether the first dimension consists of the samples only.
[[nodiscard]] inline bool starts_with_samples(const general::Extents& shape) {
  return shape.size() > 1 && shape.front() == general::Extent{1, true};
}

/// Returns those elements of a dimension, in that order.
[[nodiscard]] int taken(general::Graph& graph, int x, std::size_t axis,
                        const std::vector<std::int64_t>& places);

/// Returns `count` elements of a dimension from `first` on, `step` apart.
[[nodiscard]] int run_of(general::Graph& graph, int x, std::size_t axis, std::int64_t first,
                         std::int64_t count, std::int64_t step = 1);

/// Moves a dimension to the end, and back.
[[nodiscard]] int with_axis_last(general::Graph& graph, int x, std::size_t axis);
[[nodiscard]] int with_last_at(general::Graph& graph, int x, std::size_t axis);

/// Returns 1/(1 + exp(−x)), computed by tanh, which never overflows.
[[nodiscard]] int sigmoid(general::Graph& graph, int x);

[[nodiscard]] int gelu(general::Graph& graph, int x, bool by_tanh);

/// Softmax and its logarithm over several dimensions together.
[[nodiscard]] int softmax_over(general::Graph& graph, int x, const std::vector<std::int64_t>& axes);
[[nodiscard]] int log_softmax_over(general::Graph& graph, int x,
                                   const std::vector<std::int64_t>& axes);

/// Returns (x − mean)/sqrt(variance + epsilon) over dimensions.
[[nodiscard]] int normalised(general::Graph& graph, int x, const std::vector<std::int64_t>& axes,
                             float epsilon);

}  // namespace parbench::onnx_import
