// Choices of elements along a dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::onnx_import {

/// Those elements of a dimension, in that order.
[[nodiscard]] int taken(general::Graph& graph, int x, std::size_t axis,
                        const std::vector<std::int64_t>& places);

/// `count` elements of a dimension from `first` on, in steps.
[[nodiscard]] int run_of(general::Graph& graph, int x, std::size_t axis, std::int64_t first,
                         std::int64_t count, std::int64_t step = 1);

/// The elements of a dimension become the last one's, and back.
[[nodiscard]] int with_axis_last(general::Graph& graph, int x, std::size_t axis);
[[nodiscard]] int with_last_at(general::Graph& graph, int x, std::size_t axis);

}  // namespace parbench::onnx_import
