// Mixtures of expert perceptrons; two experts process each token.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scenarios/models/layers/composition.h"

namespace parbench {

/// The two experts of each token of a sample.
using Routes = std::vector<std::array<std::int64_t, 2>>;

struct ExpertSizes {
  std::int64_t sequence = 2;
  std::int64_t hidden = 1;
  std::int64_t expanded = 1;  // width of an expert
  std::int64_t experts = 2;   // at least 2; divides 2·sequence

  /// Returns the number of tokens of a sample for each expert.
  [[nodiscard]] std::int64_t capacity() const { return 2 * sequence / experts; }
};

/// Returns random routes with equally many tokens per expert and two experts per token; the same
/// for every sample and every run. `draw`: selects the routes.
[[nodiscard]] Routes balanced_routes(const ExpertSizes& sizes, std::uint64_t draw);

/// Computes expert perceptrons, gated by SiLU, as one batched product (Jiang et al. 2024). The
/// results are weighted by the softmax of the outputs of the router for the two experts of a token.
/// Reads {sequence, hidden} and, from the router, {sequence, experts}; returns {sequence, hidden}.
[[nodiscard]] Composition mixture_of_experts(const ExpertSizes& sizes, const Routes& routes);

}  // namespace parbench
