// Topological levels of a graph: sets of nodes that may run at the same time.
#pragma once

#include <vector>

namespace parbench {

/// Returns the level of each node: the number of edges of the longest path to it. `after`: for each
/// node, the earlier nodes that it reads.
[[nodiscard]] std::vector<int> topological_levels(const std::vector<std::vector<int>>& after);

}  // namespace parbench
