// Topological levels of a graph: what may run at once.
#pragma once

#include <vector>

namespace parbench {

/// The length of the longest path that leads to each node. `after`: for each node the earlier ones
/// that it reads.
[[nodiscard]] std::vector<int> topological_levels(const std::vector<std::vector<int>>& after);

}  // namespace parbench
