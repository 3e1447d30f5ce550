// The names of the strategies of scenario branch, taken apart.
#pragma once

#include <string_view>

namespace parbench {

inline constexpr std::string_view graph_prefix = "graph-";

[[nodiscard]] inline bool is_graph(std::string_view strategy) {
  return strategy.starts_with(graph_prefix);
}

/// How the layers are arranged: a graph is the same plan launched in another way.
[[nodiscard]] inline std::string_view arrangement_of(std::string_view strategy) {
  return is_graph(strategy) ? strategy.substr(graph_prefix.size()) : strategy;
}

}  // namespace parbench
