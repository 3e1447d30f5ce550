// Evaluates general operations by plain loops in double precision, to fold constants and to check
// kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// Elements in canonical order.
using Values = std::vector<double>;

/// Returns the result of one operation of a graph. `inputs`: values of the operation's inputs.
/// Throws std::out_of_range for the index of a row that does not exist.
[[nodiscard]] Values evaluate(const Graph& graph, const Operation& operation,
                              const std::vector<const Values*>& inputs, std::int64_t samples);

/// Returns the results of the operations `wanted` for `samples` samples. The values of the graph's
/// inputs and parameters are in the order of their indices.
[[nodiscard]] std::vector<Values> evaluate(const Graph& graph, const std::vector<int>& wanted,
                                           const std::vector<Values>& inputs,
                                           const std::vector<Values>& parameters,
                                           std::int64_t samples);

}  // namespace parbench::general
