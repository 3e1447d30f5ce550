// Shapes of general operations, and simplifications while the graph is built.
#include "scenarios/models/general/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "scenarios/models/general/evaluate.h"

namespace parbench::general {
namespace {

[[noreturn]] void refuse(std::string_view what, const Extents& a, const Extents& b) {
  throw std::invalid_argument(fmt::format("{} {} and {}", what, to_string(a), to_string(b)));
}

/// Returns the shape to which two shapes are broadcast.
Extents common(const Extents& a, const Extents& b) {
  Extents shape(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {  // from the end
    const Extent of_a = i < a.size() ? a[a.size() - 1 - i] : Extent();
    const Extent of_b = i < b.size() ? b[b.size() - 1 - i] : Extent();
    if (of_a != of_b && !of_a.is_one() && !of_b.is_one())
      refuse("shapes cannot be broadcast together:", a, b);
    shape[shape.size() - 1 - i] = of_a.is_one() ? of_b : of_a;
  }
  return shape;
}

Extents leading(const Extents& shape) { return part_of(shape, 0, shape.size() - 2); }

/// Returns whether a permutation keeps the order of the dimensions with more than one element.
bool keeps_order(const Extents& shape, const Axes& order) {
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (shape[static_cast<std::size_t>(axis)].is_one()) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// Throws std::invalid_argument unless all elements starts + steps·i, for i in `part`, are inside
/// of `whole`, and a dimension with samples is taken as a whole.
void check_slice(const Extents& whole, const Extents& part, const Axes& starts, const Axes& steps) {
  bool fits =
      part.size() == whole.size() && starts.size() == whole.size() && steps.size() == whole.size();
  for (std::size_t d = 0; fits && d < whole.size(); ++d) {
    if (part[d] == whole[d] && starts[d] == 0 && steps[d] == 1) continue;
    const std::int64_t last = starts[d] + steps[d] * (part[d].size - 1);
    fits = !part[d].samples && !whole[d].samples && steps[d] != 0 && starts[d] >= 0 &&
           starts[d] < whole[d].size && last >= 0 && last < whole[d].size;
  }
  if (!fits) refuse("a slice does not fit:", whole, part);
}

/// Throws std::invalid_argument if a table has more than `max_rows` rows for one sample.
void check_rows(const Extent& rows) {
  if (rows.size <= max_rows) return;
  throw std::invalid_argument(fmt::format(
      "it selects among {} rows, more than the {} that f32 counts exactly; use a smaller input",
      rows.size, max_rows));
}

}  // namespace

Extent count_of(const Extents& extents) {
  constexpr std::int64_t max_elements = std::int64_t{1} << 48;
  Extent count;
  for (const Extent& extent : extents) {
    if (count.samples && extent.samples) {
      throw std::invalid_argument(
          fmt::format("two dimensions of {} have samples", to_string(extents)));
    }
    count.samples = count.samples || extent.samples;
    const std::int64_t in_front = count.size;
    if (extent.size < 0 || __builtin_mul_overflow(count.size, extent.size, &count.size) ||
        count.size > max_elements) {
      throw std::invalid_argument(
          fmt::format("a tensor of {} is larger than any memory", to_string(extents)));
    }
    if (extent.samples) count.outer = in_front * extent.outer;
  }
  if (count.samples && count.size == 0) {
    throw std::invalid_argument("a tensor with samples has no elements");
  }
  return count;
}

Shape shape_at(const Extents& extents, std::int64_t samples) {
  Shape shape;
  for (const Extent& extent : extents) shape.push_back(extent.at(samples));
  return shape;
}

Extents fixed(const Shape& shape) {
  Extents extents;
  for (const std::int64_t size : shape) extents.push_back({.size = size});
  return extents;
}

Extents part_of(const Extents& shape, std::size_t first, std::size_t end) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(first),
          shape.begin() + static_cast<std::ptrdiff_t>(end)};
}

Extents joined(std::initializer_list<Extents> parts) {
  Extents all;
  for (const Extents& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Axes axes_between(std::size_t first, std::size_t end) {
  Axes axes(end - first);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
  return axes;
}

std::string to_string(const Extents& extents) {
  std::vector<std::string> texts;
  for (const Extent& extent : extents) {
    const std::int64_t inner = extent.size / extent.outer;
    std::string text = extent.samples ? "N" : fmt::format("{}", extent.size);
    if (extent.samples && extent.outer > 1) text = fmt::format("{}·{}", extent.outer, text);
    if (extent.samples && inner > 1) text = fmt::format("{}·{}", text, inner);
    texts.push_back(std::move(text));
  }
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::size_t dimension_of(std::int64_t axis, std::size_t rank) {
  const std::int64_t from_front = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (from_front < 0 || from_front >= static_cast<std::int64_t>(rank)) {
    throw std::invalid_argument(fmt::format("axis {} of {} dimensions does not exist", axis, rank));
  }
  return static_cast<std::size_t>(from_front);
}

std::vector<int> read_by(const Graph& graph, const std::vector<int>& results,
                         const std::vector<bool>& stops) {
  std::vector<bool> seen(graph.operations().size());
  std::vector<int> found;
  std::vector<int> open = results;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    const auto at = static_cast<std::size_t>(index);
    if (seen[at]) continue;
    seen[at] = true;
    if ((at < stops.size() && stops[at]) || graph.at(index).kind == OpKind::input ||
        graph.at(index).kind == OpKind::parameter) {
      found.push_back(index);
      continue;
    }
    open.insert(open.end(), graph.at(index).inputs.begin(), graph.at(index).inputs.end());
  }
  std::ranges::sort(found);
  return found;
}

// --- appending ---

int Graph::append(Operation operation) {
  static_cast<void>(count_of(operation.shape));  // throws for unsupported extents
  const bool is_source = operation.inputs.empty();
  if (!is_source && std::ranges::all_of(operation.inputs,
                                        [&](int i) { return at(i).kind == OpKind::constant; })) {
    if (const int constant = folded(operation); constant >= 0) return constant;
  }
  operations_.push_back(std::move(operation));
  return static_cast<int>(operations_.size()) - 1;
}

/// Returns a constant with the result of an operation on constants; −1 if the result contains the
/// samples or has more than `max_folded` elements.
int Graph::folded(const Operation& operation) {
  const Extent count = count_of(operation.shape);
  if (count.samples || count.size > max_folded) return -1;
  std::vector<const Values*> read;
  for (const int index : operation.inputs) read.push_back(&at(index).values->values());
  return constant(shape_at(operation.shape, 1), evaluate(*this, operation, read, 1));
}

std::optional<float> Graph::number_of(int index) const {
  const Operation& operation = at(index);
  const bool is_number = operation.kind == OpKind::element &&
                         operation.element == ElementOp::number && !operation.by_samples;
  return is_number ? std::optional(operation.number) : std::nullopt;
}

int Graph::append_element(ElementOp op, std::vector<int> inputs) {
  Extents shape = this->shape(inputs.front());
  std::vector<Values> numbers;
  for (const int input : inputs) {
    if (const auto value = number_of(input)) numbers.push_back({*value});
  }
  if (numbers.size() == inputs.size()) {
    std::vector<const Values*> read;
    for (const Values& one : numbers) read.push_back(&one);
    const Values result = evaluate(
        *this, {.kind = OpKind::element, .inputs = std::move(inputs), .shape = {}, .element = op},
        read, 1);
    return number(static_cast<float>(result.front()), std::move(shape));
  }
  return append({.kind = OpKind::element,
                 .inputs = std::move(inputs),
                 .shape = std::move(shape),
                 .element = op});
}

// --- sources ---

int Graph::input(Extents shape) {
  return append({.kind = OpKind::input, .shape = std::move(shape), .index = inputs_++});
}

int Graph::parameter(const Shape& shape) {
  return append({.kind = OpKind::parameter, .shape = fixed(shape), .index = parameters_++});
}

int Graph::constant(const Shape& shape, std::vector<double> values) {
  if (static_cast<std::int64_t>(values.size()) != element_count(shape)) {
    throw std::invalid_argument(
        fmt::format("{} values for a constant {}", values.size(), parbench::to_string(shape)));
  }
  return append(
      {.kind = OpKind::constant, .shape = fixed(shape), .values = Constant::of(std::move(values))});
}

int Graph::number(float value, Extents shape) {
  return append({.kind = OpKind::element,
                 .shape = std::move(shape),
                 .element = ElementOp::number,
                 .number = value});
}

int Graph::coordinate(Extents shape, int dimension) {
  static_cast<void>(dimension_of(dimension, shape.size()));
  return append({.kind = OpKind::element,
                 .shape = std::move(shape),
                 .element = ElementOp::coordinate,
                 .dimension = dimension});
}

int Graph::reciprocal_count(const Extents& shape, const Axes& axes) {
  Extent count;
  for (const std::int64_t axis : axes) {
    const Extent& extent = shape.at(dimension_of(axis, shape.size()));
    count.size *= extent.size;
    count.samples = count.samples || extent.samples;
  }
  return append({.kind = OpKind::element,
                 .element = ElementOp::number,
                 .number = 1 / static_cast<float>(count.size),
                 .by_samples = count.samples});
}

// --- elements ---

int Graph::apply(ElementOp op, int a) { return append_element(op, {a}); }

int Graph::apply(ElementOp op, int a, int b) {
  const Extents to = common(shape(a), shape(b));
  const int left = broadcast(a, to);
  const int right = broadcast(b, to);
  const float neutral = op == ElementOp::product || op == ElementOp::quotient ? 1 : 0;
  const bool is_sum = op == ElementOp::addition || op == ElementOp::difference;
  if (is_sum || neutral == 1) {
    if (number_of(right) == neutral) return left;
    const bool commutes = op == ElementOp::addition || op == ElementOp::product;
    if (commutes && number_of(left) == neutral) return right;
  }
  return append_element(op, {left, right});
}

int Graph::select(int condition, int a, int b) {
  const Extents to = common(shape(condition), common(shape(a), shape(b)));
  const int which = broadcast(condition, to);
  const int chosen = broadcast(a, to);
  return append_element(ElementOp::selection, {which, chosen, broadcast(b, to)});
}

int Graph::reduce(Reduction reduction, int a, Axes axes) {
  Extents to = shape(a);
  if (axes.empty()) axes = axes_between(0, to.size());
  for (std::int64_t& axis : axes) {
    const std::size_t dimension = dimension_of(axis, to.size());
    axis = static_cast<std::int64_t>(dimension);
    to[dimension] = {};
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) {
    throw std::invalid_argument(fmt::format("axes {} are not distinct", fmt::join(axes, ", ")));
  }
  if (to == shape(a)) return a;
  return append({.kind = OpKind::reduction,
                 .inputs = {a},
                 .shape = std::move(to),
                 .reduction = reduction,
                 .axes = std::move(axes)});
}

int Graph::mean(int a, const Axes& axes) {
  Axes all = axes.empty() ? axes_between(0, shape(a).size()) : axes;
  const int count = reciprocal_count(shape(a), all);
  return apply(ElementOp::product, sum(a, std::move(all)), count);
}

// --- movements ---

int Graph::broadcast(int a, const Extents& to) {
  if (shape(a) == to) return a;
  if (common(shape(a), to) != to)
    refuse("the first shape cannot be broadcast to the second:", shape(a), to);
  const Operation& source = at(a);
  if (source.inputs.empty() && source.element == ElementOp::number &&
      source.kind == OpKind::element) {
    Operation number = source;
    number.shape = to;
    return append(std::move(number));
  }
  const int same_rank = reshape(a, joined({Extents(to.size() - shape(a).size()), shape(a)}));
  if (shape(same_rank) == to) return same_rank;
  return append({.kind = OpKind::expansion, .inputs = {same_rank}, .shape = to});
}

int Graph::permute(int a, Axes order) {
  Extents to;
  Axes sorted;
  for (std::int64_t& axis : order) {
    axis = static_cast<std::int64_t>(dimension_of(axis, shape(a).size()));
    to.push_back(shape(a)[static_cast<std::size_t>(axis)]);
    sorted.push_back(axis);
  }
  std::ranges::sort(sorted);
  if (order.size() != shape(a).size() || std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw std::invalid_argument(fmt::format("({}) is not a permutation of the dimensions of {}",
                                            fmt::join(order, ", "), to_string(shape(a))));
  }
  if (order == sorted) return a;
  if (const auto value = number_of(a)) return number(*value, std::move(to));
  if (at(a).kind == OpKind::permutation) {
    for (std::int64_t& axis : order) axis = at(a).axes[static_cast<std::size_t>(axis)];
    return permute(at(a).inputs.front(), std::move(order));
  }
  if (keeps_order(shape(a), order)) return reshape(a, std::move(to));
  return append({.kind = OpKind::permutation,
                 .inputs = {a},
                 .shape = std::move(to),
                 .axes = std::move(order)});
}

int Graph::move_axis(int a, std::size_t from, std::size_t to) {
  Axes order = axes_between(0, shape(a).size());
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int64_t>(from));
  return permute(a, std::move(order));
}

int Graph::transpose(int a) {
  const std::size_t rank = shape(a).size();
  return move_axis(a, rank - 1, rank - 2);
}

int Graph::reshape(int a, Extents to) {
  if (to == shape(a)) return a;
  if (count_of(to) != count_of(shape(a)))
    refuse("a reshape must keep the number of elements, not", shape(a), to);
  if (const auto value = number_of(a)) return number(*value, std::move(to));
  if (at(a).kind == OpKind::reshape) return reshape(at(a).inputs.front(), std::move(to));
  return append({.kind = OpKind::reshape, .inputs = {a}, .shape = std::move(to)});
}

int Graph::detach(int a) {
  return append({.kind = OpKind::detached, .inputs = {a}, .shape = shape(a)});
}

int Graph::slice(int a, Axes starts, Axes steps, Extents to) {
  check_slice(shape(a), to, starts, steps);
  if (to == shape(a) && std::ranges::all_of(steps, [](auto step) { return step == 1; })) return a;
  if (const auto value = number_of(a)) return number(*value, std::move(to));
  return append({.kind = OpKind::slice,
                 .inputs = {a},
                 .shape = std::move(to),
                 .starts = std::move(starts),
                 .steps = std::move(steps)});
}

int Graph::place(int a, Axes starts, Axes steps, Extents to) {
  check_slice(to, shape(a), starts, steps);
  // The placement fills its result, so it can only reverse dimensions (step −1), as the slice with
  // the same arguments does.
  if (to == shape(a)) return slice(a, std::move(starts), std::move(steps), std::move(to));
  return append({.kind = OpKind::placement,
                 .inputs = {a},
                 .shape = std::move(to),
                 .starts = std::move(starts),
                 .steps = std::move(steps)});
}

int Graph::part(int a, std::size_t axis, std::int64_t first, std::int64_t count,
                std::int64_t step) {
  Extents to = shape(a);
  Axes starts(to.size(), 0);
  Axes steps(to.size(), 1);
  to.at(axis) = {.size = count};
  starts[axis] = first;
  steps[axis] = step;
  return slice(a, std::move(starts), std::move(steps), std::move(to));
}

int Graph::concatenate(std::vector<int> parts, std::int64_t axis) {
  Extents to = shape(parts.at(0));
  const std::size_t dimension = dimension_of(axis, to.size());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Extents part = shape(parts[i]);
    if (part.size() != to.size() || part[dimension].samples || to[dimension].samples) {
      refuse("shapes cannot be concatenated:", to, part);
    }
    to[dimension].size += std::exchange(part[dimension], to[dimension]).size;
    part[dimension] = to[dimension];
    if (part != to) refuse("shapes cannot be concatenated:", to, shape(parts[i]));
  }
  if (parts.size() == 1) return parts.front();
  return append({.kind = OpKind::concatenation,
                 .inputs = std::move(parts),
                 .shape = std::move(to),
                 .axes = {static_cast<std::int64_t>(dimension)}});
}

// --- products and rows ---

/// Multiplies the matrices of `a` by the only matrix of `b`, as a single product of two matrices.
int Graph::multiply_rows(int a, int b) {
  const Extent inner = shape(b).end()[-2];
  const Extent columns = shape(b).back();
  Extents result = shape(a);
  result.back() = columns;
  if (shape(b).size() > result.size()) {  // leading dimensions of `b`, of extent 1
    result.insert(result.begin(), shape(b).size() - result.size(), Extent());
  }
  const Extents rows = part_of(shape(a), 0, shape(a).size() - 1);
  const int matrix = reshape(b, {inner, columns});
  const int all = reshape(a, {count_of(rows), inner});
  return reshape(multiply(all, matrix), std::move(result));
}

int Graph::multiply(int a, int b) {
  if (shape(a).size() < 2 || shape(b).size() < 2 || shape(a).back() != shape(b).end()[-2]) {
    refuse("shapes cannot be multiplied as matrices:", shape(a), shape(b));
  }
  const Extents of_b = leading(shape(b));
  if (shape(a).size() > 2 &&
      std::ranges::all_of(of_b, [](const Extent& one) { return one.is_one(); }))
    return multiply_rows(a, b);
  const Extents front = common(leading(shape(a)), leading(shape(b)));
  const int left = broadcast(a, joined({front, {shape(a).end()[-2], shape(a).back()}}));
  const int right = broadcast(b, joined({front, {shape(b).end()[-2], shape(b).back()}}));
  return append({.kind = OpKind::product,
                 .inputs = {left, right},
                 .shape = joined({front, {shape(a).end()[-2], shape(b).back()}})});
}

int Graph::rows(int table, int indices) {
  if (shape(table).size() != 2 || shape(indices).size() != 1) {
    refuse("rows need a table and a list of indices, not", shape(table), shape(indices));
  }
  if (const auto value = number_of(table)) {
    return number(*value, {shape(indices).front(), shape(table).back()});
  }
  check_rows(shape(table).front());
  return append({.kind = OpKind::rows,
                 .inputs = {table, indices},
                 .shape = {shape(indices).front(), shape(table).back()}});
}

int Graph::scatter_rows(int source, int indices, const Extent& count) {
  if (shape(source).size() != 2 || shape(indices).size() != 1 ||
      shape(source).front() != shape(indices).front()) {
    refuse("each row needs an index, not", shape(source), shape(indices));
  }
  check_rows(count);
  return append({.kind = OpKind::scattered_rows,
                 .inputs = {source, indices},
                 .shape = {count, shape(source).back()}});
}

int Graph::layer(int index, std::vector<int> inputs, Extents to) {
  operations_.push_back(
      {.kind = OpKind::layer, .inputs = std::move(inputs), .shape = std::move(to), .index = index});
  return static_cast<int>(operations_.size()) - 1;
}

}  // namespace parbench::general
