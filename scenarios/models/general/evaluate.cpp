// A loop for each kind of operation.
#include "scenarios/models/general/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "scenarios/models/general/strides.h"

namespace parbench::general {
namespace {

/// Calls visit(offset + Σ strides·coordinates) for each element of a shape in canonical order.
template <class Visit>
void for_each(const Shape& shape, std::int64_t offset, const Shape& strides, Visit visit) {
  Shape at(shape.size(), 0);
  std::int64_t index = offset;
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(static_cast<std::size_t>(index));
    for (std::size_t d = shape.size(); d-- > 0;) {
      index += strides[d];
      if (++at[d] < shape[d]) break;
      index -= shape[d] * strides[d];
      at[d] = 0;
    }
  }
}

double sign_of(double value) { return std::isnan(value) ? value : (value > 0) - (value < 0); }

double min_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double max_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Function of the corresponding elements of two inputs; functions of one input ignore `b`.
using Function = double (*)(double a, double b);

Function function_of(ElementOp op) {
  static const std::map<ElementOp, Function> functions{
      {ElementOp::absolute, [](double a, double /*b*/) { return std::abs(a); }},
      {ElementOp::ceiling, [](double a, double /*b*/) { return std::ceil(a); }},
      {ElementOp::cosine, [](double a, double /*b*/) { return std::cos(a); }},
      {ElementOp::error_function, [](double a, double /*b*/) { return std::erf(a); }},
      {ElementOp::exponential, [](double a, double /*b*/) { return std::exp(a); }},
      {ElementOp::floor, [](double a, double /*b*/) { return std::floor(a); }},
      {ElementOp::logarithm, [](double a, double /*b*/) { return std::log(a); }},
      {ElementOp::negation, [](double a, double /*b*/) { return -a; }},
      {ElementOp::reciprocal, [](double a, double /*b*/) { return 1 / a; }},
      {ElementOp::rounding, [](double a, double /*b*/) { return std::nearbyint(a); }},
      {ElementOp::sign, [](double a, double /*b*/) { return sign_of(a); }},
      {ElementOp::sine, [](double a, double /*b*/) { return std::sin(a); }},
      {ElementOp::square_root, [](double a, double /*b*/) { return std::sqrt(a); }},
      {ElementOp::tanh, [](double a, double /*b*/) { return std::tanh(a); }},
      {ElementOp::addition, [](double a, double b) { return a + b; }},
      {ElementOp::difference, [](double a, double b) { return a - b; }},
      {ElementOp::product, [](double a, double b) { return a * b; }},
      {ElementOp::quotient, [](double a, double b) { return a / b; }},
      {ElementOp::power, [](double a, double b) { return std::pow(a, b); }},
      {ElementOp::minimum, [](double a, double b) { return min_of(a, b); }},
      {ElementOp::maximum, [](double a, double b) { return max_of(a, b); }},
      {ElementOp::remainder, [](double a, double b) { return std::fmod(a, b); }},
      {ElementOp::less, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {ElementOp::equal, [](double a, double b) { return a == b ? 1.0 : 0.0; }}};
  const auto found = functions.find(op);
  if (found != functions.end()) return found->second;
  throw std::logic_error("an element operation has another number of inputs");
}

Values elements(const Operation& operation, const std::vector<const Values*>& inputs,
                std::int64_t samples) {
  const Shape shape = shape_at(operation.shape, samples);
  Values out;
  out.reserve(static_cast<std::size_t>(element_count(shape)));
  if (operation.element == ElementOp::coordinate) {
    Shape strides(shape.size(), 0);
    strides[static_cast<std::size_t>(operation.dimension)] = 1;
    for_each(shape, 0, strides, [&](std::size_t own) { out.push_back(static_cast<double>(own)); });
    return out;
  }
  if (operation.element == ElementOp::number) {
    const double divisor = operation.by_samples ? static_cast<double>(samples) : 1;
    out.assign(static_cast<std::size_t>(element_count(shape)), double{operation.number} / divisor);
    return out;
  }
  const auto in = [&](std::size_t which, std::size_t i) { return (*inputs.at(which))[i]; };
  if (operation.element == ElementOp::selection) {
    for (std::size_t i = 0; i < inputs.at(0)->size(); ++i) {
      out.push_back(in(0, i) != 0 ? in(1, i) : in(2, i));
    }
    return out;
  }
  const Function function = function_of(operation.element);
  for (std::size_t i = 0; i < inputs.at(0)->size(); ++i) {
    out.push_back(function(in(0, i), inputs.size() > 1 ? in(1, i) : 0));
  }
  return out;
}

/// A reduction: its initial result, and the function that combines the result with the next
/// element.
struct Fold {
  double start;
  Function join;
};

Fold fold_of(Reduction reduction) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::maximum:
      return {-infinity, max_of};
    case Reduction::minimum:
      return {infinity, min_of};
    case Reduction::product:
      return {1, function_of(ElementOp::product)};
    default:
      return {0, function_of(ElementOp::addition)};
  }
}

Values reduction(const Operation& operation, const Values& in, const Shape& from, const Shape& to) {
  const Fold fold = fold_of(operation.reduction);
  Values out(static_cast<std::size_t>(element_count(to)), fold.start);
  Shape strides = canonical_strides(to);
  for (const std::int64_t axis : operation.axes) strides[static_cast<std::size_t>(axis)] = 0;
  std::size_t next = 0;
  for_each(from, 0, strides,
           [&](std::size_t index) { out[index] = fold.join(out[index], in[next++]); });
  return out;
}

Values moved(const Operation& operation, const Values& in, const Shape& from,
             std::int64_t samples) {
  const StridedView whole{.shape = from, .strides = canonical_strides(from)};
  const StridedView view = *moved(operation, whole, samples);
  Values out;
  for_each(view.shape, view.offset, view.strides,
           [&](std::size_t index) { out.push_back(in[index]); });
  return out;
}

/// Writes elements in canonical order to the positions offset + Σ strides·coordinates of a larger
/// tensor.
void write(Values& out, std::int64_t offset, const Shape& strides, const Values& in,
           const Shape& from) {
  std::size_t next = 0;
  for_each(from, offset, strides, [&](std::size_t index) { out[index] = in[next++]; });
}

Values placement(const Operation& operation, const Values& in, const Shape& from, const Shape& to) {
  Values out(static_cast<std::size_t>(element_count(to)), 0);
  Shape strides = canonical_strides(to);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    offset += operation.starts[d] * strides[d];
    strides[d] *= operation.steps[d];
  }
  write(out, offset, strides, in, from);
  return out;
}

Values concatenation(const Graph& graph, const Operation& operation,
                     const std::vector<const Values*>& inputs, std::int64_t samples) {
  const Shape to = shape_at(operation.shape, samples);
  const auto axis = static_cast<std::size_t>(operation.axes.front());
  const Shape strides = canonical_strides(to);
  Values out(static_cast<std::size_t>(element_count(to)));
  std::int64_t offset = 0;
  for (std::size_t part = 0; part < inputs.size(); ++part) {
    const Shape from = shape_at(graph.shape(operation.inputs[part]), samples);
    write(out, offset, strides, *inputs[part], from);
    offset += from[axis] * strides[axis];
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

/// Returns `index` as the number of one of `count` rows. Throws std::out_of_range if there is no
/// such row.
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
      return moved(operation, *inputs[0], from(), samples);
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
