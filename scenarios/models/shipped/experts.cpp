// Routes, and the graph of a mixture.
#include "scenarios/models/shipped/experts.h"

#include <utility>

#include "kernels/base/random.h"
#include "scenarios/models/shipped/composed_kinds.h"

namespace parbench {
namespace {

using general::Extent;
using general::Extents;

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

/// Appends the parts of a mixture. Slots are positions for tokens: {experts, samples, capacity}.
class Mixture {
 public:
  Mixture(general::Graph& graph, const ExpertSizes& sizes, const Routes& routes)
      : graph_(graph), sizes_(sizes), routes_(routes) {
    const Extents slots{{sizes.experts}, samples_, {sizes.capacity()}};
    std::vector<double> tokens;
    for (std::int64_t expert = 0; expert < sizes.experts; ++expert) {
      for (std::size_t token = 0; token < routes.size(); ++token) {
        if (routes[token][0] != expert && routes[token][1] != expert) continue;
        tokens.push_back(static_cast<double>(token));
      }
    }
    const int token = graph.constant({sizes.experts, 1, sizes.capacity()}, std::move(tokens));
    const int first = graph.apply(ElementOp::product, graph.coordinate(slots, 1),
                                  static_cast<float>(sizes.sequence));
    indices_ =
        graph.reshape(graph.apply(ElementOp::addition, first, token), {general::count_of(slots)});
  }

  /// Returns {experts, tokens per expert, columns} for {samples, sequence, columns}.
  [[nodiscard]] int at_slots(int x) const {
    const Extent columns = graph_.shape(x).back();
    const int table = graph_.reshape(x, {{sizes_.sequence, true}, columns});
    return graph_.reshape(graph_.rows(table, indices_), of_experts(columns));
  }

  /// The inverse of at_slots: sums over the slots of each token.
  [[nodiscard]] int at_tokens(int x) const {
    const Extent columns = graph_.shape(x).back();
    const int rows = graph_.reshape(x, {graph_.shape(indices_).front(), columns});
    return graph_.reshape(graph_.scatter_rows(rows, indices_, {sizes_.sequence, true}),
                          {samples_, {sizes_.sequence}, columns});
  }

  /// Returns {experts, tokens per expert, 1}: the weight of each expert for its tokens.
  [[nodiscard]] int shares(int router) const {
    constexpr double excluded = -1e4;
    const Shape shape{sizes_.sequence, sizes_.experts};
    std::vector<double> offsets(static_cast<std::size_t>(element_count(shape)), excluded);
    for (std::size_t token = 0; token < routes_.size(); ++token) {
      for (const std::int64_t expert : routes_[token]) {
        offsets[token * static_cast<std::size_t>(sizes_.experts) +
                static_cast<std::size_t>(expert)] = 0;
      }
    }
    const int chosen =
        graph_.apply(ElementOp::addition, router, graph_.constant(shape, std::move(offsets)));
    const int max = graph_.detach(graph_.reduce(Reduction::maximum, chosen, {-1}));
    const int powers =
        graph_.apply(ElementOp::exponential, graph_.apply(ElementOp::difference, chosen, max));
    const int all = graph_.apply(ElementOp::quotient, powers, graph_.sum(powers, {-1}));
    return graph_.sum(graph_.apply(ElementOp::product, at_slots(all), own_column()), {-1});
  }

 private:
  [[nodiscard]] Extents of_experts(const Extent& columns) const {
    return {{sizes_.experts}, {sizes_.capacity(), true}, columns};
  }

  /// Returns {experts, 1, experts}: 1 in the column of each expert.
  [[nodiscard]] int own_column() const {
    const auto experts = static_cast<std::size_t>(sizes_.experts);
    std::vector<double> ones(experts * experts);
    for (std::size_t i = 0; i < experts; ++i) ones[i * experts + i] = 1;
    return graph_.constant({sizes_.experts, 1, sizes_.experts}, std::move(ones));
  }

  general::Graph& graph_;
  const ExpertSizes& sizes_;
  const Routes& routes_;
  Extent samples_{1, true};
  int indices_ = 0;  // index of the token in each slot, among the tokens of all samples
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
  const Shape wide{experts, hidden, 2 * expanded};
  const Shape narrow{experts, expanded, hidden};
  general::Graph graph;
  const int x = graph.input(extents_of({sequence, hidden}));
  const int router = graph.input(extents_of({sequence, experts}));
  const int gate_up = graph.parameter(wide);
  const int down = graph.parameter(narrow);
  const Mixture mixture(graph, sizes, routes);
  const int inner = gated_by_silu(graph, graph.multiply(mixture.at_slots(x), gate_up));
  const int results = graph.multiply(inner, down);
  const int output =
      mixture.at_tokens(graph.apply(ElementOp::product, results, mixture.shares(router)));
  return {"mixture_of_experts",
          std::move(graph),
          output,
          {{.name = "gate_up_proj",
            .role = "gate_up_proj",
            .shape = wide,
            .initial = uniform_by_inputs(hidden)},
           {.name = "down_proj",
            .role = "down_proj",
            .shape = narrow,
            .initial = uniform_by_inputs(expanded)}}};
}

}  // namespace parbench
