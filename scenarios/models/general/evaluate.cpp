// A loop for each kind of operation.
#include "scenarios/models/general/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace parbench::general {
namespace {

/// Returns the strides of a canonical tensor.
Axes strides_of(const Shape& shape) {
  Axes strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Calls visit(coordinates) for each element of a shape in canonical order.
template <class Visit>
void for_each(const Shape& shape, Visit visit) {
  Axes at(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(at);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

/// Returns the index of the element at coordinates. Dimensions of extent 1 repeat.
std::size_t index_of(const Axes& at, const Shape& shape, const Axes& strides) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index += (shape[d] == 1 ? 0 : at[d]) * strides[d];
  return static_cast<std::size_t>(index);
}

double sign_of(double value) { return std::isnan(value) ? value : (value > 0) - (value < 0); }

double min_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double max_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double of_one(ElementOp op, double a) {
  switch (op) {
    case ElementOp::absolute:
      return std::abs(a);
    case ElementOp::ceiling:
      return std::ceil(a);
    case ElementOp::cosine:
      return std::cos(a);
    case ElementOp::error_function:
      return std::erf(a);
    case ElementOp::exponential:
      return std::exp(a);
    case ElementOp::floor:
      return std::floor(a);
    case ElementOp::logarithm:
      return std::log(a);
    case ElementOp::negation:
      return -a;
    case ElementOp::reciprocal:
      return 1 / a;
    case ElementOp::rounding:
      return std::nearbyint(a);
    case ElementOp::sign:
      return sign_of(a);
    case ElementOp::sine:
      return std::sin(a);
    case ElementOp::square_root:
      return std::sqrt(a);
    case ElementOp::tanh:
      return std::tanh(a);
    default:
      throw std::logic_error("an element operation has another number of inputs");
  }
}

double of_two(ElementOp op, double a, double b) {
  switch (op) {
    case ElementOp::addition:
      return a + b;
    case ElementOp::difference:
      return a - b;
    case ElementOp::product:
      return a * b;
    case ElementOp::quotient:
      return a / b;
    case ElementOp::power:
      return std::pow(a, b);
    case ElementOp::minimum:
      return min_of(a, b);
    case ElementOp::maximum:
      return max_of(a, b);
    case ElementOp::remainder:
      return std::fmod(a, b);
    case ElementOp::less:
      return a < b ? 1 : 0;
    case ElementOp::equal:
      return a == b ? 1 : 0;
    default:
      return of_one(op, a);
  }
}

Values elements(const Operation& operation, const std::vector<const Values*>& inputs,
                std::int64_t samples) {
  const Shape shape = shape_at(operation.shape, samples);
  Values out;
  out.reserve(static_cast<std::size_t>(element_count(shape)));
  if (operation.element == ElementOp::coordinate) {
    for_each(shape, [&](const Axes& at) {
      out.push_back(static_cast<double>(at[static_cast<std::size_t>(operation.dimension)]));
    });
    return out;
  }
  if (operation.element == ElementOp::number) {
    const double divisor = operation.by_samples ? static_cast<double>(samples) : 1;
    out.assign(static_cast<std::size_t>(element_count(shape)), double{operation.number} / divisor);
    return out;
  }
  for (std::size_t i = 0; i < inputs.at(0)->size(); ++i) {
    const auto in = [&](std::size_t which) { return (*inputs.at(which))[i]; };
    if (operation.element == ElementOp::selection) {
      out.push_back(in(0) != 0 ? in(1) : in(2));
    } else {
      out.push_back(of_two(operation.element, in(0), inputs.size() > 1 ? in(1) : 0));
    }
  }
  return out;
}

double start_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::maximum:
      return -std::numeric_limits<double>::infinity();
    case Reduction::minimum:
      return std::numeric_limits<double>::infinity();
    case Reduction::product:
      return 1;
    default:
      return 0;
  }
}

double reduced(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::maximum:
      return max_of(a, b);
    case Reduction::minimum:
      return min_of(a, b);
    case Reduction::product:
      return a * b;
    default:
      return a + b;
  }
}

Values reduction(const Operation& operation, const Values& in, const Shape& from, const Shape& to) {
  Values out(static_cast<std::size_t>(element_count(to)), start_of(operation.reduction));
  const Axes strides = strides_of(to);
  std::size_t next = 0;
  for_each(from, [&](const Axes& at) {
    double& result = out[index_of(at, to, strides)];
    result = reduced(operation.reduction, result, in[next++]);
  });
  return out;
}

/// Returns, for each element i of the output, the element of the input at starts + steps·i, with
/// dimensions in the order `axes`.
Values moved(const Operation& operation, const Values& in, const Shape& from, const Shape& to) {
  const Axes strides = strides_of(from);
  Axes source(from.size());
  Values out;
  for_each(to, [&](const Axes& at) {
    for (std::size_t d = 0; d < source.size(); ++d) {
      if (operation.kind == OpKind::permutation) {
        source[static_cast<std::size_t>(operation.axes[d])] = at[d];
      } else {
        source[d] = operation.kind == OpKind::slice
                        ? operation.starts[d] + operation.steps[d] * at[d]
                        : at[d];
      }
    }
    out.push_back(in[index_of(source, from, strides)]);
  });
  return out;
}

Values placement(const Operation& operation, const Values& in, const Shape& from, const Shape& to) {
  Values out(static_cast<std::size_t>(element_count(to)), 0);
  const Axes strides = strides_of(to);
  std::size_t next = 0;
  for_each(from, [&](const Axes& at) {
    Axes target(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) {
      target[d] = operation.starts[d] + operation.steps[d] * at[d];
    }
    out[index_of(target, to, strides)] = in[next++];
  });
  return out;
}

Values concatenation(const Graph& graph, const Operation& operation,
                     const std::vector<const Values*>& inputs, std::int64_t samples) {
  const Shape to = shape_at(operation.shape, samples);
  const auto axis = static_cast<std::size_t>(operation.axes.front());
  const Axes strides = strides_of(to);
  Values out(static_cast<std::size_t>(element_count(to)));
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < inputs.size(); ++part) {
    const Shape from = shape_at(graph.shape(operation.inputs[part]), samples);
    std::size_t next = 0;
    for_each(from, [&](Axes at) {
      at[axis] += begin;
      out[index_of(at, to, strides)] = (*inputs[part])[next++];
    });
    begin += from[axis];
  }
  return out;
}

Values product_of(const Values& a, const Values& b, std::int64_t inner, const Shape& to) {
  const auto k = static_cast<std::size_t>(inner);
  const auto m = static_cast<std::size_t>(to.end()[-2]);
  const auto n = static_cast<std::size_t>(to.back());
  Values out(static_cast<std::size_t>(element_count(to)), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t matrix = i / (m * n);
    const std::size_t row = i / n % m;
    for (std::size_t j = 0; j < k; ++j) {
      out[i] += a[(matrix * m + row) * k + j] * b[(matrix * k + j) * n + i % n];
    }
  }
  return out;
}

/// Returns the index of one of `count` rows. Throws std::out_of_range for other indices.
std::size_t row_of(double index, std::size_t count) {
  const bool exists = index >= 0 && index < static_cast<double>(count);  // false for NaN
  if (!exists) {
    throw std::out_of_range("an index names a row that does not exist");
  }
  return static_cast<std::size_t>(index);
}

Values rows(const Values& table, const Values& indices, std::size_t width) {
  Values out;
  for (const double index : indices) {
    const std::size_t first = row_of(index, table.size() / width) * width;
    for (std::size_t i = 0; i < width; ++i) out.push_back(table[first + i]);
  }
  return out;
}

Values scattered_rows(const Values& source, const Values& indices, const Shape& to) {
  Values out(static_cast<std::size_t>(element_count(to)), 0);
  const auto width = static_cast<std::size_t>(to.back());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t row = row_of(indices[i / width], static_cast<std::size_t>(to.front()));
    out[row * width + i % width] += source[i];
  }
  return out;
}

}  // namespace

Values evaluate(const Graph& graph, const Operation& operation,
                const std::vector<const Values*>& inputs, std::int64_t samples) {
  const Shape to = shape_at(operation.shape, samples);
  const auto from = [&] { return shape_at(graph.shape(operation.inputs.front()), samples); };
  switch (operation.kind) {
    case OpKind::constant:
      return operation.values->values();
    case OpKind::element:
      return elements(operation, inputs, samples);
    case OpKind::reduction:
      return reduction(operation, *inputs[0], from(), to);
    case OpKind::detached:
    case OpKind::reshape:
      return *inputs[0];
    case OpKind::expansion:
    case OpKind::permutation:
    case OpKind::slice:
      return moved(operation, *inputs[0], from(), to);
    case OpKind::placement:
      return placement(operation, *inputs[0], from(), to);
    case OpKind::concatenation:
      return concatenation(graph, operation, inputs, samples);
    case OpKind::product:
      return product_of(*inputs[0], *inputs[1], from().back(), to);
    case OpKind::rows:
      return rows(*inputs[0], *inputs[1], static_cast<std::size_t>(to.back()));
    case OpKind::scattered_rows:
      return scattered_rows(*inputs[0], *inputs[1], to);
    case OpKind::input:
    case OpKind::parameter:
    case OpKind::layer:
      break;
  }
  throw std::logic_error("inputs, parameters and layers come from outside");
}

std::vector<Values> evaluate(const Graph& graph, const std::vector<int>& wanted,
                             const std::vector<Values>& inputs,
                             const std::vector<Values>& parameters, std::int64_t samples) {
  const auto last = static_cast<std::size_t>(*std::ranges::max_element(wanted));
  std::vector<bool> needed(last + 1);
  for (const int index : wanted) needed[static_cast<std::size_t>(index)] = true;
  for (std::size_t i = last + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (const int read : graph.operations()[i].inputs)
      needed[static_cast<std::size_t>(read)] = true;
  }
  std::vector<Values> results(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    if (!needed[i]) continue;
    const Operation& operation = graph.operations()[i];
    const auto index = static_cast<std::size_t>(operation.index);
    if (operation.kind == OpKind::input) {
      results[i] = inputs.at(index);
    } else if (operation.kind == OpKind::parameter) {
      results[i] = parameters.at(index);
    } else {
      std::vector<const Values*> read;
      for (const int from : operation.inputs)
        read.push_back(&results[static_cast<std::size_t>(from)]);
      results[i] = evaluate(graph, operation, read, samples);
    }
  }
  std::vector<Values> found;
  for (const int index : wanted) found.push_back(results[static_cast<std::size_t>(index)]);
  return found;
}

}  // namespace parbench::general
