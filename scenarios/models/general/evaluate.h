// General operations by plain loops in double precision: what constants are folded with and what
// kernels are checked against.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// Elements in canonical order.
using Values = std::vector<double>;

/// The result of one operation of a graph. `inputs` are those of the operation's inputs.
[[nodiscard]] Values evaluate(const Graph& graph, const Operation& operation,
                              const std::vector<const Values*>& inputs, std::int64_t samples);

/// The results of operations `wanted`, for so many samples, from those of the graph's inputs and
/// parameters in the order of their indices.
[[nodiscard]] std::vector<Values> evaluate(const Graph& graph, const std::vector<int>& wanted,
                                           const std::vector<Values>& inputs,
                                           const std::vector<Values>& parameters,
                                           std::int64_t samples);

}  // namespace parbench::general
