// Longest paths, node by node.
#include "scenarios/plan/schedules/levels.h"

#include <algorithm>
#include <cstddef>

namespace parbench {

std::vector<int> topological_levels(const std::vector<std::vector<int>>& after) {
  std::vector<int> levels;
  for (const std::vector<int>& before : after) {
    int level = 0;
    for (const int node : before) {
      level = std::max(level, levels.at(static_cast<std::size_t>(node)) + 1);
    }
    levels.push_back(level);
  }
  return levels;
}

}  // namespace parbench
