// The gradient of each kind of operation.
#include "scenarios/models/general/gradient.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

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

  /// Returns the sum of contributions. Parts that together make up the tensor are joined instead of
  /// added.
  [[nodiscard]] int sum_of(std::vector<int> contributions) {
    if (const int joined = joined_parts(contributions); joined >= 0) return joined;
    int sum = contributions.front();
    for (std::size_t i = 1; i < contributions.size(); ++i) {
      sum = graph_.apply(addition, sum, contributions[i]);
    }
    return sum;
  }

  /// Returns the dimension in which a placement leaves room; −1 for none, several or gaps.
  [[nodiscard]] int dimension_of_part(const Operation& one) const {
    int dimension = -1;
    if (one.kind != OpKind::placement) return dimension;
    const Extents& part = graph_.shape(one.inputs.front());
    for (std::size_t d = 0; d < part.size(); ++d) {
      if (part[d] == one.shape[d]) continue;
      if (dimension >= 0 || one.steps[d] != 1) return -1;
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

  [[nodiscard]] int times(int a, int b) { return graph_.apply(product, a, b); }
  [[nodiscard]] int times(int a, float b) { return graph_.apply(product, a, b); }
  [[nodiscard]] int zeros(int like) { return graph_.number(0, graph_.shape(like)); }

  void pass(int index, int gradient) {
    const Operation operation = graph_.at(index);  // a copy, because appending moves the original
    for (std::size_t which = 0; which < operation.inputs.size(); ++which) {
      const int input = operation.inputs[which];
      if (!depends(input)) continue;
      const int one = gradient_of(operation, index, which, gradient);
      if (one >= 0) contributions_[input].push_back(one);
    }
  }

  /// Returns the gradient of one input of an operation; −1: none.
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
        return which == 0 ? graph_.multiply(g, transposed(operation.inputs[1]))
                          : graph_.multiply(transposed(operation.inputs[0]), g);
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

  [[nodiscard]] int of_element(const Operation& operation, int y, std::size_t which, int g) {
    const std::vector<int>& in = operation.inputs;
    switch (in.size()) {
      case 1:
        return of_one(operation.element, in[0], y, g);
      case 2:
        return of_two(operation.element, in[0], in[1], y, which, g);
      default:
        if (which == 0) return -1;
        return which == 1 ? graph_.select(in[0], g, zeros(g)) : graph_.select(in[0], zeros(g), g);
    }
  }

  [[nodiscard]] int of_one(ElementOp op, int a, int y, int g) {
    switch (op) {
      case absolute:
        return times(g, graph_.apply(sign, a));
      case cosine:
        return times(g, graph_.apply(negation, graph_.apply(sine, a)));
      case error_function: {  // 2/sqrt(π) · exp(−a²)
        const int bell = graph_.apply(exponential, graph_.apply(negation, times(a, a)));
        return times(g, times(bell, 2 * std::numbers::inv_sqrtpi_v<float>));
      }
      case exponential:
        return times(g, y);
      case logarithm:
        return graph_.apply(quotient, g, a);
      case negation:
        return graph_.apply(negation, g);
      case reciprocal:
        return graph_.apply(negation, times(g, times(y, y)));
      case sine:
        return times(g, graph_.apply(cosine, a));
      case square_root:
        return graph_.apply(quotient, times(g, 0.5F), y);
      case tanh:
        return times(g, graph_.apply(difference, graph_.number(1), times(y, y)));
      default:
        return -1;  // step functions
    }
  }

  [[nodiscard]] int of_two(ElementOp op, int a, int b, int y, std::size_t which, int g) {
    const bool first = which == 0;
    switch (op) {
      case addition:
        return g;
      case difference:
        return first ? g : graph_.apply(negation, g);
      case product:
        return times(g, first ? b : a);
      case quotient: {
        const int part = graph_.apply(quotient, g, b);
        return first ? part : graph_.apply(negation, times(part, y));
      }
      case power:
        return of_power(a, b, y, first, g);
      case minimum:
        return chosen(graph_.apply(less, a, b), first, g);
      case maximum:
        return chosen(graph_.apply(less, b, a), first, g);
      case remainder:
        return first ? g : of_divisor(a, b, y, g);
      default:
        return -1;  // comparisons
    }
  }

  /// The gradients are b·a^(b−1) and ln(a)·a^b; the latter is 0 where a is 0.
  [[nodiscard]] int of_power(int a, int b, int y, bool first, int g) {
    if (first) {
      const int lower = graph_.apply(power, a, graph_.apply(difference, b, 1.0F));
      return times(g, times(b, lower));
    }
    const int slope = times(y, graph_.apply(logarithm, a));
    return times(g, graph_.select(graph_.apply(less, graph_.number(0), a), slope, zeros(y)));
  }

  /// a − y is a multiple of b.
  [[nodiscard]] int of_divisor(int a, int b, int y, int g) {
    const int multiple = graph_.apply(quotient, graph_.apply(difference, a, y), b);
    return graph_.apply(negation, times(g, graph_.apply(rounding, multiple)));
  }

  [[nodiscard]] int chosen(int is_first, bool first, int g) {
    return first ? graph_.select(is_first, g, zeros(g)) : graph_.select(is_first, zeros(g), g);
  }

  [[nodiscard]] int of_reduction(const Operation& operation, int y, int g) {
    const int a = operation.inputs.front();
    const int repeated = graph_.broadcast(g, graph_.shape(a));
    if (operation.reduction == Reduction::sum) return repeated;
    if (operation.reduction == Reduction::product) return times(repeated, of_product(operation, y));
    const int is_extreme = graph_.apply(equal, a, y);
    const int share = graph_.apply(quotient, g, graph_.sum(is_extreme, operation.axes));
    return times(is_extreme, share);
  }

  /// Multiplies all other elements, because y/a is undefined where a is 0.
  [[nodiscard]] int of_product(const Operation& operation, int y) {
    const int a = operation.inputs.front();
    const int is_zero = graph_.apply(equal, a, 0.0F);
    const int others = graph_.reduce(Reduction::product,
                                     graph_.select(is_zero, graph_.number(1), a), operation.axes);
    const int is_only_one = graph_.apply(equal, graph_.sum(is_zero, operation.axes), 1.0F);
    return graph_.select(is_zero, graph_.select(is_only_one, others, graph_.number(0)),
                         graph_.apply(quotient, y, a));
  }

  [[nodiscard]] int of_part(const Operation& operation, std::size_t which, int g) {
    const auto axis = static_cast<std::size_t>(operation.axes.front());
    Axes starts(operation.shape.size(), 0);
    for (std::size_t i = 0; i < which; ++i) {
      starts[axis] += graph_.shape(operation.inputs[i])[axis].size;
    }
    return graph_.slice(g, starts, Axes(starts.size(), 1), graph_.shape(operation.inputs[which]));
  }

  [[nodiscard]] int transposed(int matrices) {
    Axes order(graph_.shape(matrices).size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<std::int64_t>(d);
    std::swap(order.end()[-1], order.end()[-2]);
    return graph_.permute(matrices, std::move(order));
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
