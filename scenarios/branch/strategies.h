// Parts of the names of scenario branch's strategies.
#pragma once

#include <string_view>

namespace parbench {

inline constexpr std::string_view graph_prefix = "graph-";

[[nodiscard]] inline bool is_graph(std::string_view strategy) {
  return strategy.starts_with(graph_prefix);
}

/// Returns the arrangement of the layers: graphs have the same plan as the strategy of that name,
/// with another launch.
[[nodiscard]] inline std::string_view arrangement_of(std::string_view strategy) {
  return is_graph(strategy) ? strategy.substr(graph_prefix.size()) : strategy;
}

}  // namespace parbench
