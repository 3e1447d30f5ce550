// Mixtures of perceptrons, of which each token passes two.
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

  /// The tokens of a sample that each expert gets.
  [[nodiscard]] std::int64_t capacity() const { return 2 * sequence / experts; }
};

/// Random routes that give each expert as many tokens and each token two experts; the same for
/// every sample and every run. `draw`: which routes.
[[nodiscard]] Routes balanced_routes(const ExpertSizes& sizes, std::uint64_t draw);

/// Perceptrons gated by SiLU as one batched product (Jiang et al. 2024), whose results are weighted
/// by the softmax of the router's numbers for the two experts of a token. Reads {sequence, hidden}
/// and the router's {sequence, experts}; gives {sequence, hidden}.
[[nodiscard]] Composition mixture_of_experts(const ExpertSizes& sizes, const Routes& routes);

}  // namespace parbench
