// Names of scenario branch's strategies, and the answer about them.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench {

inline constexpr std::string_view graph_prefix = "graph-";

[[nodiscard]] inline bool is_graph(std::string_view strategy) {
  return strategy.starts_with(graph_prefix);
}

/// Returns the name of a strategy without "graph-": the strategy that has the same tasks but
/// submits them without a graph.
[[nodiscard]] inline std::string_view arrangement_of(std::string_view strategy) {
  return is_graph(strategy) ? strategy.substr(graph_prefix.size()) : strategy;
}

/// Recommends a technique for each size, and states up to which work per layer running the branches
/// together pays. The gain of graph launch is not counted as a gain of running them together.
[[nodiscard]] Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                                       const PossiblyFastest& possibly_fastest);

}  // namespace parbench
