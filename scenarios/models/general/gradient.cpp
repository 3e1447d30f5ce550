// Computes the gradient of each kind of operation.
#include "scenarios/models/general/gradient.h"

#include <algorithm>
#include <numbers>
#include <stdexcept>

#include "scenarios/models/general/term.h"

namespace parbench::general {
namespace {

using enum ElementOp;

class ReversePass {
 public:
  ReversePass(Graph& graph, int output, const std::vector<int>& wanted) : graph_(graph) {
    for (int index = 0; index <= output; ++index) {
      const Operation& one = graph.at(index);
      depends_.push_back(std::ranges::find(wanted, index) != wanted.end() ||
                         std::ranges::any_of(one.inputs, [&](int i) { return depends(i); }));
    }
  }

  void run(int output, int upstream) {
    if (depends(output)) contributions_[output] = {upstream};
    for (int index = output; index >= 0; --index) {
      const auto found = contributions_.find(index);
      if (found == contributions_.end()) continue;
      const int gradient = sum_of(found->second);
      gradients_[index] = gradient;
      pass(index, gradient);
    }
  }

  [[nodiscard]] const std::map<int, int>& gradients() const { return gradients_; }

 private:
  [[nodiscard]] bool depends(int index) const { return depends_[static_cast<std::size_t>(index)]; }

  /// Returns the sum of contributions to a gradient. Placements of parts that together fill the
  /// tensor are concatenated instead of added.
  [[nodiscard]] int sum_of(std::vector<int> contributions) {
    if (const int joined = joined_parts(contributions); joined >= 0) return joined;
    int sum = contributions.front();
    for (std::size_t i = 1; i < contributions.size(); ++i) {
      sum = graph_.apply(addition, sum, contributions[i]);
    }
    return sum;
  }

  /// Returns the only dimension in which a placement's input is smaller than the result; −1 if
  /// there is none or more than one, if the step in any dimension is not 1, and for other
  /// operations.
  [[nodiscard]] int dimension_of_part(const Operation& one) const {
    int dimension = -1;
    if (one.kind != OpKind::placement) return dimension;
    const Extents& part = graph_.shape(one.inputs.front());
    for (std::size_t d = 0; d < part.size(); ++d) {
      if (one.steps[d] != 1) return -1;
      if (part[d] == one.shape[d]) continue;
      if (dimension >= 0) return -1;
      dimension = static_cast<int>(d);
    }
    return dimension;
  }

  [[nodiscard]] int joined_parts(std::vector<int>& contributions) {
    const int dimension = dimension_of_part(graph_.at(contributions.front()));
    if (dimension < 0) return -1;
    const auto d = static_cast<std::size_t>(dimension);
    for (const int one : contributions) {
      if (dimension_of_part(graph_.at(one)) != dimension) return -1;
    }
    std::ranges::sort(contributions, {}, [&](int one) { return graph_.at(one).starts[d]; });
    std::int64_t end = 0;
    std::vector<int> parts;
    for (const int one : contributions) {
      if (graph_.at(one).starts[d] != end) return -1;
      parts.push_back(graph_.at(one).inputs.front());
      end += graph_.shape(parts.back())[d].size;
    }
    if (end != graph_.shape(contributions.front())[d].size) return -1;
    return graph_.concatenate(std::move(parts), dimension);
  }

  void pass(int index, int gradient) {
    const Operation operation = graph_.at(index);  // a copy, as appending may move the original
    for (std::size_t which = 0; which < operation.inputs.size(); ++which) {
      const int input = operation.inputs[which];
      if (!depends(input)) continue;
      const int one = gradient_of(operation, index, which, gradient);
      if (one >= 0) contributions_[input].push_back(one);
    }
  }

  /// Returns the gradient of one input of an operation; −1 if no gradient is propagated to it.
  [[nodiscard]] int gradient_of(const Operation& operation, int index, std::size_t which, int g) {
    const int input = operation.inputs[which];
    const Extents shape = graph_.shape(input);
    switch (operation.kind) {
      case OpKind::element:
        return of_element(operation, index, which, g);
      case OpKind::reduction:
        return of_reduction(operation, index, g);
      case OpKind::expansion:
        return graph_.sum(g, repeated(shape, operation.shape));
      case OpKind::permutation:
        return graph_.permute(g, inverse(operation.axes));
      case OpKind::reshape:
        return graph_.reshape(g, shape);
      case OpKind::detached:
        return -1;
      case OpKind::slice:
        return graph_.place(g, operation.starts, operation.steps, shape);
      case OpKind::placement:
        return graph_.slice(g, operation.starts, operation.steps, shape);
      case OpKind::concatenation:
        return of_part(operation, which, g);
      case OpKind::product:
        return which == 0 ? graph_.multiply(g, graph_.transpose(operation.inputs[1]))
                          : graph_.multiply(graph_.transpose(operation.inputs[0]), g);
      case OpKind::rows:
        return which == 0 ? graph_.scatter_rows(g, operation.inputs[1], shape.front()) : -1;
      case OpKind::scattered_rows:
        return which == 0 ? graph_.rows(g, operation.inputs[1]) : -1;
      case OpKind::input:
      case OpKind::parameter:
      case OpKind::constant:
      case OpKind::layer:
        break;
    }
    throw std::logic_error("sources and layers have no gradient in the graph");
  }

  [[nodiscard]] int of_element(const Operation& operation, int index, std::size_t which, int g) {
    const auto in = [&](std::size_t i) { return Term{&graph_, operation.inputs[i]}; };
    const Term y{&graph_, index};
    const Term upstream{&graph_, g};
    switch (operation.inputs.size()) {
      case 1:
        return of_one(operation.element, in(0), y, upstream);
      case 2:
        return of_two(operation.element, in(0), in(1), y, which == 0, upstream);
      default:
        return which == 0 ? -1 : chosen(in(0), which == 1, upstream).operation;
    }
  }

  [[nodiscard]] static int of_one(ElementOp op, Term a, Term y, Term g) {
    switch (op) {
      case absolute:
        return g * a.sign();
      case cosine:
        return g * -a.apply(sine);
      case error_function:  // 2/sqrt(π) · exp(−a²)
        return g * ((-a.squared()).exp() * (2 * std::numbers::inv_sqrtpi_v<float>));
      case exponential:
        return g * y;
      case logarithm:
        return g / a;
      case negation:
        return -g;
      case reciprocal:
        return -(g * y.squared());
      case sine:
        return g * a.apply(cosine);
      case square_root:
        return g * 0.5F / y;
      case tanh:
        return g * (1.0F - y.squared());
      default:
        return -1;  // step functions
    }
  }

  [[nodiscard]] static int of_two(ElementOp op, Term a, Term b, Term y, bool first, Term g) {
    switch (op) {
      case addition:
        return g;
      case difference:
        return first ? g : -g;
      case product:
        return g * (first ? b : a);
      case quotient:
        return first ? g / b : -(g / b * y);
      case power:
        return of_power(a, b, y, first, g);
      case minimum:
        return chosen(a.less(b), first, g);
      case maximum:
        return chosen(b.less(a), first, g);
      case remainder:  // a − y is a multiple of b
        return first ? g : -(g * ((a - y) / b).round());
      default:
        return -1;  // comparisons
    }
  }

  /// Returns the gradient of a^b with respect to a (`first`): g·b·a^(b−1); or to b: g·ln(a)·a^b
  /// where a is positive, otherwise 0.
  [[nodiscard]] static Term of_power(Term a, Term b, Term y, bool first, Term g) {
    if (first) return g * (b * a.apply(power, b - 1.0F));
    const Term slope = y * a.log();
    return g * a.greater(0.0F).choose(slope, y.filled(0));
  }

  [[nodiscard]] static Term chosen(Term is_first, bool first, Term g) {
    return first ? is_first.choose(g, g.filled(0)) : is_first.choose(g.filled(0), g);
  }

  [[nodiscard]] Term of_reduction(const Operation& operation, int index, int gradient) {
    const Term a{&graph_, operation.inputs.front()};
    const Term y{&graph_, index};
    const Term g{&graph_, gradient};
    const Term repeated = g.broadcast(a.shape());
    if (operation.reduction == Reduction::sum) return repeated;
    if (operation.reduction == Reduction::product) return repeated * of_product(operation, a, y);
    const Term is_extreme = a.equal(y);
    return is_extreme * (g / is_extreme.sum(operation.axes));
  }

  /// Returns the derivative of a product with respect to each element: the product of the other
  /// elements. This is y/a, except where a is 0.
  [[nodiscard]] static Term of_product(const Operation& operation, Term a, Term y) {
    const Term is_zero = a.equal(0.0F);
    const Term others = is_zero.choose(1.0F, a).reduce(Reduction::product, operation.axes);
    const Term is_only_one = is_zero.sum(operation.axes).equal(1.0F);
    const Term at_zero = is_only_one.choose(others, 0.0F);
    return is_zero.choose(at_zero, y / a);
  }

  [[nodiscard]] int of_part(const Operation& operation, std::size_t which, int g) {
    const auto axis = static_cast<std::size_t>(operation.axes.front());
    const auto size = [&](std::size_t i) { return graph_.shape(operation.inputs[i])[axis].size; };
    std::int64_t first = 0;
    for (std::size_t i = 0; i < which; ++i) first += size(i);
    return graph_.part(g, axis, first, size(which));
  }

  [[nodiscard]] static Axes repeated(const Extents& from, const Extents& to) {
    Axes axes;
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (from[d] != to[d]) axes.push_back(static_cast<std::int64_t>(d));
    }
    return axes;
  }

  [[nodiscard]] static Axes inverse(const Axes& order) {
    Axes back(order.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
      back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
    }
    return back;
  }

  Graph& graph_;
  std::vector<bool> depends_;
  std::map<int, std::vector<int>> contributions_;  // contributions to the gradient of an operation
  std::map<int, int> gradients_;
};

}  // namespace

std::map<int, int> add_gradients(Graph& graph, int output, int upstream,
                                 const std::vector<int>& wanted) {
  ReversePass reverse(graph, output, wanted);
  reverse.run(output, upstream);
  std::map<int, int> found;
  for (const int index : wanted) {
    const auto one = reverse.gradients().find(index);
    if (one != reverse.gradients().end()) found.emplace(index, one->second);
  }
  return found;
}

}  // namespace parbench::general
