// The reverse pass over a graph of general operations.
#pragma once

#include <map>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// Appends to a graph the gradients of Σ upstream · output with respect to operations `wanted`, as
/// operations of the same set, and returns their indices; none for what the output does not depend
/// on. Where inputs of a minimum, maximum or selection tie, the second one gets the gradient;
/// elements that tie in a reduction share it.
[[nodiscard]] std::map<int, int> add_gradients(Graph& graph, int output, int upstream,
                                               const std::vector<int>& wanted);

}  // namespace parbench::general
