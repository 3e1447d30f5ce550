// Routes, and the graph of a mixture.
#include "scenarios/models/shipped/experts.h"

#include <utility>

#include "kernels/base/random.h"
#include "scenarios/models/shipped/composed_kinds.h"

namespace parbench {
namespace {

using general::Extent;
using general::Extents;
using general::Term;

/// Makes the two experts of each token different, without changing the number of tokens per expert.
void separate(Routes& routes) {
  for (auto& route : routes) {
    const std::int64_t expert = route[0];
    if (route[1] != expert) continue;
    for (auto& other : routes) {
      if (other[0] == expert || other[1] == expert) continue;
      std::swap(route[1], other[1]);
      break;
    }
  }
}

/// Appends the parts of a mixture. Slots, {experts, samples, capacity}, hold the tokens of each
/// expert.
class Mixture {
 public:
  Mixture(Composer& composer, const ExpertSizes& sizes, const Routes& routes)
      : composer_(composer), sizes_(sizes), routes_(routes), indices_(token_indices()) {}

  /// Returns {experts, tokens per expert, columns} for {samples, sequence, columns}.
  [[nodiscard]] Term at_slots(Term x) const {
    const Extent columns = x.shape().back();
    const Term table = x.reshape({{sizes_.sequence, true}, columns});
    return table.rows(indices_).reshape({{sizes_.experts}, {sizes_.capacity(), true}, columns});
  }

  /// Returns the sums over the slots of each token, {samples, sequence, columns}.
  [[nodiscard]] Term at_tokens(Term x) const {
    const Extent columns = x.shape().back();
    const Term rows = x.reshape({indices_.shape().front(), columns});
    const Term sums{x.graph, x.graph->scatter_rows(rows, indices_, {sizes_.sequence, true})};
    return sums.reshape({samples, {sizes_.sequence}, columns});
  }

  /// Returns {experts, tokens per expert, 1}: the weight of each expert for its tokens.
  [[nodiscard]] Term shares(Term router) const {
    constexpr double excluded = -1e4;
    const Shape shape{sizes_.sequence, sizes_.experts};
    std::vector<double> offsets(static_cast<std::size_t>(element_count(shape)), excluded);
    for (std::size_t token = 0; token < routes_.size(); ++token) {
      for (const std::int64_t expert : routes_[token]) {
        offsets[token * static_cast<std::size_t>(sizes_.experts) +
                static_cast<std::size_t>(expert)] = 0;
      }
    }
    const Term chosen = router + composer_.constant(shape, std::move(offsets));
    const Term powers = (chosen - chosen.reduce(Reduction::maximum, {-1}).detached()).exp();
    const Term all = powers / powers.sum({-1});
    const Term at_experts = at_slots(all);
    return (at_experts * own_column()).sum({-1});
  }

 private:
  static constexpr Extent samples{1, true};

  /// Returns the index of the token in each slot, among the tokens of all samples.
  [[nodiscard]] Term token_indices() const {
    const Extents slots{{sizes_.experts}, samples, {sizes_.capacity()}};
    std::vector<double> tokens;
    for (std::int64_t expert = 0; expert < sizes_.experts; ++expert) {
      for (std::size_t token = 0; token < routes_.size(); ++token) {
        if (routes_[token][0] != expert && routes_[token][1] != expert) continue;
        tokens.push_back(static_cast<double>(token));
      }
    }
    const Term token =
        composer_.constant({sizes_.experts, 1, sizes_.capacity()}, std::move(tokens));
    const Term sample{token.graph, token.graph->coordinate(slots, 1)};
    const Term first = sample * static_cast<float>(sizes_.sequence);
    return (first + token).reshape({general::count_of(slots)});
  }

  /// Returns {experts, 1, experts}: for each expert 1 in its own column, otherwise 0.
  [[nodiscard]] Term own_column() const {
    const auto experts = static_cast<std::size_t>(sizes_.experts);
    std::vector<double> ones(experts * experts);
    for (std::size_t i = 0; i < experts; ++i) ones[i * experts + i] = 1;
    return composer_.constant({sizes_.experts, 1, sizes_.experts}, std::move(ones));
  }

  Composer& composer_;
  const ExpertSizes& sizes_;
  const Routes& routes_;
  Term indices_;
};

}  // namespace

Routes balanced_routes(const ExpertSizes& sizes, std::uint64_t draw) {
  const RandomStream numbers{.seed = draw, .subsequence = 2ULL << 32U};
  Routes routes(static_cast<std::size_t>(sizes.sequence));
  const auto at = [&](std::uint64_t i) -> std::int64_t& { return routes[i / 2][i % 2]; };
  for (std::uint64_t i = 0; i < 2 * routes.size(); ++i) {
    at(i) = static_cast<std::int64_t>(i) % sizes.experts;
  }
  for (std::uint64_t i = 2 * routes.size() - 1; i > 0; --i) {
    std::swap(at(i), at(random_words(numbers, i).x % (i + 1)));
  }
  separate(routes);
  return routes;
}

Composition mixture_of_experts(const ExpertSizes& sizes, const Routes& routes) {
  const auto& [sequence, hidden, expanded, experts] = sizes;
  Composer composer;
  const Term x = composer.input({sequence, hidden});
  const Term router = composer.input({sequence, experts});
  const Term gate_up = composer.parameter("gate_up_proj", {experts, hidden, 2 * expanded},
                                          uniform_by_inputs(hidden));
  const Term down =
      composer.parameter("down_proj", {experts, expanded, hidden}, uniform_by_inputs(expanded));
  const Mixture mixture(composer, sizes, routes);
  const Term inner = gated_by_silu(mixture.at_slots(x).multiply(gate_up));
  const Term results = inner.multiply(down);
  const Term weighted = results * mixture.shares(router);
  return composer.composed("mixture_of_experts", mixture.at_tokens(weighted));
}

}  // namespace parbench
