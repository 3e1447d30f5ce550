// Reverse-mode differentiation of a graph of general operations.
#pragma once

#include <map>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// Appends to a graph the gradients of Σ upstream · output with respect to the operations `wanted`,
/// and returns the indices of the gradients by operation. Operations to which no gradient is
/// propagated are missing. If the inputs of a minimum or maximum are equal, the second one gets the
/// gradient; equal minima or maxima of a reduction share the gradient equally.
[[nodiscard]] std::map<int, int> add_gradients(Graph& graph, int output, int upstream,
                                               const std::vector<int>& wanted);

}  // namespace parbench::general
