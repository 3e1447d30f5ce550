// Arithmetic of shapes, and weights that are cut and joined: exporters write them as nodes where
// they do not fold them.
#include "scenarios/models/onnx/constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "scenarios/models/onnx/masks.h"

namespace parbench::onnx_import {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Of whole numbers that are kept, and of the pieces of weights: files can double them at each
/// node.
constexpr std::size_t max_numbers = 1024;
constexpr std::size_t max_pieces = 64;
constexpr std::size_t max_rank = 16;

/// The shape of a list of numbers that has none.
const Shape no_numbers{0};

Constant whole_numbers(Numbers numbers, Shape shape) {
  if (numbers.size() > max_numbers)
    throw CannotMap("it makes more whole numbers than any shape has");
  return {.shape = std::move(shape), .integers = std::move(numbers)};
}

Constant whole_numbers(Numbers numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return whole_numbers(std::move(numbers), {count});
}

// --- shapes ---

/// The same values in another shape.
void fold_as(Importer& importer, const Node& node, Constant constant, Shape shape) {
  if (shape.size() > max_rank) throw CannotMap("its shape has too many dimensions");
  if (constant.transposed && shape != constant.shape) constant.source.clear();  // in no order of it
  constant.shape = std::move(shape);
  importer.fold(node, std::move(constant));
}

void fold_reshape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& constant = view.weights(0, "values");
  const std::int64_t count = element_count(constant.shape);
  Shape shape = view.integers("shape", 1);
  if (shape.size() > max_rank) throw CannotMap("its shape has too many dimensions");
  const auto refuse = [&] {
    throw CannotMap(
        fmt::format("its shape ({}) is not that of its {} values", fmt::join(shape, ", "), count));
  };
  std::int64_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < constant.shape.size()) shape[i] = constant.shape[i];
    if (shape[i] == -1) continue;
    if (shape[i] < 1 || shape[i] > count / known) refuse();
    known *= shape[i];
  }
  const bool is_open = std::ranges::find(shape, -1) != shape.end();
  if (std::ranges::count(shape, -1) > 1 || (is_open ? count % known != 0 : known != count))
    refuse();
  std::ranges::replace(shape, std::int64_t{-1}, count / known);
  fold_as(importer, node, constant, shape);
}

void fold_unsqueeze(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& constant = *view.constant(0);
  Shape shape = constant.shape;
  Numbers axes = view.integers("axes", 1);
  if (shape.size() + axes.size() > max_rank) throw CannotMap("its shape has too many dimensions");
  const auto rank = static_cast<std::int64_t>(shape.size() + axes.size());
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis > std::ssize(shape)) throw CannotMap("its axes do not fit");
    shape.insert(shape.begin() + axis, 1);
  }
  fold_as(importer, node, constant, shape);
}

void fold_squeeze(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& constant = *view.constant(0);
  const bool has_axes = node.attributes.contains("axes") || view.has_input(1);
  std::vector<bool> is_dropped(constant.shape.size());
  if (has_axes) {
    for (const std::int64_t axis : view.integers("axes", 1)) {
      is_dropped.at(place_of(axis, constant.shape.size())) = true;
    }
  }
  Shape shape;
  for (std::size_t i = 0; i < constant.shape.size(); ++i) {
    if (is_dropped[i] && constant.shape[i] != 1) throw CannotMap("it drops a dimension of several");
    if (!is_dropped[i] && (has_axes || constant.shape[i] != 1)) shape.push_back(constant.shape[i]);
  }
  fold_as(importer, node, constant, shape);
}

/// Of a matrix.
Numbers with_axes_swapped(const Constant& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape[0]);
  const auto columns = static_cast<std::size_t>(matrix.shape[1]);
  Numbers swapped;
  for (std::size_t i = 0; i < matrix.integers.size(); ++i) {
    swapped.push_back(matrix.integers.at(i % rows * columns + i / rows));
  }
  return swapped;
}

void fold_transpose(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Constant made = *view.constant(0);
  const Numbers swapped{1, 0};
  if (made.shape.size() != 2 || view.attribute("perm", swapped) != swapped) {
    throw CannotMap("only matrices of weights are supported");
  }
  if (!made.integers.empty()) {
    return importer.fold(node,
                         whole_numbers(with_axes_swapped(made), {made.shape[1], made.shape[0]}));
  }
  std::ranges::reverse(made.shape);
  made.transposed = !made.transposed;
  made.mask = Mask::none;
  made.pieces.clear();
  importer.fold(node, std::move(made));
}

void fold_shape(Importer& importer, const Node& node) {
  importer.fold(node, whole_numbers(NodeView(importer, node).constant(0)->shape));
}

// --- parts ---

/// Rows of a tensor of weights, which keep the place of their values.
Constant rows_of(const Constant& constant, std::int64_t first, std::int64_t count) {
  check_size(constant.shape);
  Constant made = constant;
  made.shape.front() = count;
  made.mask = Mask::none;
  if (first == 0 && count == constant.shape.front()) return constant;
  const std::int64_t row = element_count(constant.shape) / constant.shape.front();
  made.pieces = constant.transposed ? std::vector<ValuePiece>()
                                    : part_of(pieces_of(constant), first * row, count * row);
  made.source.clear();
  made.transposed = false;
  return made;
}

/// Whether a Slice takes all rows of whole numbers from the last one on: a flip.
bool reverses_rows(const NodeView& view, const Constant& numbers) {
  if (numbers.integers.empty() || numbers.shape.empty() || !view.has_input(4)) return false;
  const Numbers first{0};
  return view.integers("steps", 4) == Numbers{-1} && view.integers("starts", 1) == Numbers{-1} &&
         view.integers("ends", 2) < Numbers{-numbers.shape.front()} &&
         (!view.has_input(3) || view.integers("axes", 3) == first);
}

Numbers with_rows_reversed(const Constant& constant) {
  const auto row = std::ssize(constant.integers) / constant.shape.front();
  Numbers reversed;
  for (auto end = constant.integers.end(); end != constant.integers.begin(); end -= row) {
    reversed.insert(reversed.end(), end - row, end);
  }
  return reversed;
}

void fold_slice(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Constant made = *view.constant(0);
  if (reverses_rows(view, made)) {
    return importer.fold(node, whole_numbers(with_rows_reversed(made), made.shape));
  }
  for (const Range& range : ranges_of(view, made.shape)) {
    const bool are_numbers = !made.integers.empty() && made.shape.size() == 1;
    if (are_numbers && range.count < 1) return importer.fold(node, Constant{.shape = no_numbers});
    if (range.count < 1) throw CannotMap("it takes nothing");
    if (range.axis != 0) throw CannotMap("it takes other than rows of a constant");
    if (are_numbers) {
      const auto begin = made.integers.begin() + range.first;
      made = whole_numbers(Numbers(begin, begin + range.count));
    } else {
      made = rows_of(made, range.first, range.count);
      made.integers.clear();
      made.scalar.reset();
    }
  }
  importer.fold(node, std::move(made));
}

/// Whole numbers by their places; of a table of weights, all rows in their order.
void fold_gather(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& table = *view.constant(0);
  const Constant& places = *view.constant(1);
  if (view.attribute("axis", std::int64_t{0}) != 0 || table.shape.empty()) {
    throw CannotMap("only choices of rows of a constant are supported");
  }
  Numbers rows = places.integers;
  for (std::int64_t& row : rows) {
    row += row < 0 ? table.shape.front() : 0;
    if (row < 0 || row >= table.shape.front())
      throw CannotMap("it chooses rows that are not there");
  }
  if (table.shape.size() == 1 && !table.integers.empty()) {
    for (std::int64_t& row : rows) row = table.integers.at(static_cast<std::size_t>(row));
    return importer.fold(node, whole_numbers(rows, places.shape));
  }
  Numbers all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  if (rows != all || std::cmp_not_equal(rows.size(), table.shape.front())) {
    throw CannotMap("it chooses other rows of a table than all in their order");
  }
  Constant made = table;
  made.shape = places.shape;
  made.shape.insert(made.shape.end(), table.shape.begin() + 1, table.shape.end());
  if (made.shape.size() > max_rank) throw CannotMap("its shape has too many dimensions");
  importer.fold(node, std::move(made));
}

void append(Constant& whole, const Constant& part, std::size_t rank) {
  if (part.shape.size() != rank || rank == 0) throw CannotMap("it joins constants of other ranks");
  check_size(part.shape);
  if (!std::equal(part.shape.begin() + 1, part.shape.end(), whole.shape.begin() + 1)) {
    throw CannotMap("it joins constants of other shapes");
  }
  whole.shape.front() += part.shape.front();
  check_size(whole.shape);
  std::ranges::copy(part.integers, std::back_inserter(whole.integers));
  std::ranges::copy(pieces_of(part), std::back_inserter(whole.pieces));
  if (whole.integers.size() > max_numbers)
    throw CannotMap("it joins more numbers than any shape has");
  if (whole.pieces.size() > max_pieces) throw CannotMap("it joins more than 64 parts of weights");
}

void fold_concat(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  std::vector<const Constant*> parts;
  for (const std::string& name : node.inputs) {
    const Constant* part = importer.constant(name);
    if (part == nullptr) throw CannotMap("it lacks a part");
    if (part->shape != no_numbers) parts.push_back(part);
  }
  const std::size_t rank = parts.empty() ? 0 : parts.front()->shape.size();
  const auto axis = view.attribute("axis", std::int64_t{0});
  if (rank == 0 || place_of(axis, rank) != 0)
    throw CannotMap("it joins other than rows of constants");
  Constant made{.shape = parts.front()->shape};
  made.shape.front() = 0;
  bool are_known = true;  // by their values, or as numbers
  for (const Constant* part : parts) {
    append(made, *part, rank);
    are_known = are_known && !(part->integers.empty() && pieces_of(*part).empty());
  }
  if (std::cmp_not_equal(made.integers.size(), made.shape.front()) || rank != 1) {
    made.integers.clear();
  }
  if (!are_known) made.pieces.clear();
  importer.fold(node, std::move(made));
}

// --- arithmetic ---

std::int64_t computed(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  if (op == "Add") overflows = __builtin_add_overflow(a, b, &result);
  if (op == "Sub") overflows = __builtin_sub_overflow(a, b, &result);
  if (op == "Mul") overflows = __builtin_mul_overflow(a, b, &result);
  if (op == "Div" || op == "Mod") {
    if (b <= 0) throw CannotMap("it divides a whole number by one that is not positive");
    result = op == "Div" ? a / b : ((a % b) + b) % b;
  }
  if (overflows) throw CannotMap("its result has no 64 bits");
  return result;
}

double computed(std::string_view op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  return std::fmod(a, b);
}

void fold_arithmetic(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (node.inputs.size() != 2) throw CannotMap("it has other than two operands");
  const Constant& a = view.weights(0, "operands");
  const Constant& b = view.weights(1, "operands");
  if (a.scalar && b.scalar) {
    const Shape& shape = a.shape.size() > b.shape.size() ? a.shape : b.shape;
    return importer.fold(node, {.shape = shape, .scalar = computed(node.op, *a.scalar, *b.scalar)});
  }
  const std::size_t count = std::max(a.integers.size(), b.integers.size());
  const auto fits = [&](const Constant& one) {
    return one.integers.size() == count || one.integers.size() == 1;
  };
  if (count == 0 || !fits(a) || !fits(b)) {
    throw CannotMap("it computes with other constants than whole numbers, or single ones");
  }
  const auto at = [](const Constant& one, std::size_t i) {
    return one.integers[one.integers.size() == 1 ? 0 : i];
  };
  Numbers results;
  for (std::size_t i = 0; i < count; ++i) results.push_back(computed(node.op, at(a, i), at(b, i)));
  const bool a_is_larger = a.integers.size() != b.integers.size()
                               ? a.integers.size() > b.integers.size()
                               : a.shape.size() > b.shape.size();
  importer.fold(node, whole_numbers(std::move(results), a_is_larger ? a.shape : b.shape));
}

void fold_root(Importer& importer, const Node& node) {
  const Constant& number = *NodeView(importer, node).constant(0);
  if (!number.scalar) throw CannotMap("only roots of a single number are supported");
  importer.fold(node, {.shape = number.shape, .scalar = std::sqrt(*number.scalar)});
}

/// To floating point a number stays the same, to whole numbers it is rounded towards zero.
void fold_cast(Importer& importer, const Node& node) {
  constexpr std::int64_t to_int32 = 6;
  constexpr std::int64_t to_int64 = 7;
  constexpr double exact = 9007199254740992;  // 2^53
  const NodeView view(importer, node);
  Constant made = *view.constant(0);
  const auto to = view.attribute("to", std::int64_t{0});
  if (to == to_int32 || to == to_int64) {
    if (made.scalar && std::abs(*made.scalar) < exact) {
      made = whole_numbers({static_cast<std::int64_t>(*made.scalar)}, made.shape);
    }
  } else if (!made.integers.empty()) {
    if (made.integers.size() == 1) made.scalar = static_cast<double>(made.integers.front());
    made.integers.clear();
  }
  importer.fold(node, std::move(made));
}

void fold_range(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Numbers ends;
  for (std::size_t which = 0; which < 3; ++which) {
    const Constant& end = view.weights(which, "ends");
    if (end.integers.size() != 1) throw CannotMap("only ranges of whole numbers are supported");
    ends.push_back(end.integers.front());
  }
  if (ends[2] != 1 || ends[0] != 0 || ends[1] < 1 || std::cmp_greater(ends[1], max_numbers)) {
    throw CannotMap("only ranges that begin at 0 are supported");
  }
  Numbers numbers(static_cast<std::size_t>(ends[1]));
  std::iota(numbers.begin(), numbers.end(), 0);
  importer.fold(node, whole_numbers(std::move(numbers)));
}

void fold_expand(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& constant = *view.constant(0);
  Shape shape = view.constant(1)->integers;
  if (!value_of(constant)) throw CannotMap("it repeats a constant of different numbers");
  if (shape.size() > max_rank || constant.shape.size() > max_rank) {
    throw CannotMap("its shape has too many dimensions");
  }
  if (shape.size() < constant.shape.size()) {
    shape.insert(shape.begin(), constant.shape.size() - shape.size(), 1);
  }
  const std::size_t skipped = shape.size() - constant.shape.size();
  for (std::size_t i = 0; i < constant.shape.size(); ++i) {
    if (shape[skipped + i] == 1) shape[skipped + i] = constant.shape[i];
  }
  importer.fold(node, {.shape = std::move(shape), .filled = value_of(constant)});
}

void fold_identity(Importer& importer, const Node& node) {
  importer.fold(node, *NodeView(importer, node).constant(0));
}

}  // namespace

const std::map<std::string_view, MapNode>& foldings() {
  static const std::map<std::string_view, MapNode> all{
      {"Add", fold_arithmetic},      {"Cast", fold_cast},         {"Concat", fold_concat},
      {"Div", fold_arithmetic},      {"Equal", fold_equal},       {"Expand", fold_expand},
      {"Gather", fold_gather},       {"Identity", fold_identity}, {"Mod", fold_arithmetic},
      {"Mul", fold_arithmetic},      {"Not", fold_not},           {"Range", fold_range},
      {"Reshape", fold_reshape},     {"Shape", fold_shape},       {"Slice", fold_slice},
      {"Sqrt", fold_root},           {"Squeeze", fold_squeeze},   {"Sub", fold_arithmetic},
      {"Transpose", fold_transpose}, {"Trilu", fold_triangle},    {"Unsqueeze", fold_unsqueeze},
      {"Where", fold_where}};
  return all;
}

std::vector<Range> ranges_of(const NodeView& view, const Shape& shape) {
  const Numbers starts = view.integers("starts", 1);
  const Numbers ends = view.integers("ends", 2);
  Numbers axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (view.has_attribute("axes") || view.has_input(3)) axes = view.integers("axes", 3);
  Numbers steps(starts.size(), 1);
  if (view.has_input(4)) steps = view.integers("steps", 4);
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      starts.size() != steps.size() || starts.size() > max_rank) {
    throw CannotMap("its starts, ends, axes and steps are of different numbers");
  }
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] != 1) throw CannotMap(fmt::format("its step is {}, not 1", steps[i]));
    const std::size_t axis = place_of(axes[i], shape.size());
    const std::int64_t extent = shape[axis];
    const auto position = [&](std::int64_t from) {
      if (from < 0) from = std::max<std::int64_t>(from, -extent) + extent;
      return std::min(from, extent);
    };
    const std::int64_t first = position(starts[i]);
    ranges.push_back({axis, first, position(ends[i]) - first});
  }
  return ranges;
}

void map_shape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View* found = importer.find_view(view.input(0));
  Numbers numbers = shape_of(found == nullptr ? importer.view(view.input(0)) : *found);
  const auto rank = static_cast<std::int64_t>(numbers.size());
  const auto bounded = [&](std::int64_t place) {
    if (place < 0) place = std::max<std::int64_t>(place, -rank) + rank;
    return std::min(place, rank);
  };
  const std::int64_t first = bounded(view.attribute("start", std::int64_t{0}));
  const std::int64_t last = bounded(view.attribute("end", rank));
  if (first >= last) throw CannotMap("it takes no dimension");
  importer.fold(node, whole_numbers(Numbers(numbers.begin() + first, numbers.begin() + last)));
}

void map_constant(Importer& importer, const Node& node) {
  const auto found = node.attributes.find("value");
  if (found != node.attributes.end()) {
    if (const auto* constant = std::get_if<Constant>(&found->second)) {
      Constant made = *constant;
      made.source = node.outputs.at(0);
      return importer.fold(node, std::move(made));
    }
  }
  const NodeView view(importer, node);
  if (node.attributes.contains("value_ints")) {
    const Numbers values = view.attribute("value_ints", Numbers());
    return importer.fold(node, {{static_cast<std::int64_t>(values.size())}, values});
  }
  if (node.attributes.contains("value_int")) {
    return importer.fold(node, {{}, {view.attribute("value_int", std::int64_t{0})}});
  }
  if (!node.attributes.contains("value_float")) {
    throw CannotMap("its value is neither a tensor nor a number");
  }
  importer.fold(node, {.shape = {}, .scalar = view.attribute("value_float", 0.0)});
}

/// Weights of files that were made small count as parameters too.
void map_constant_of_shape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant value = view.attribute("value", Constant{.shape = {}, .scalar = 0.0});
  Shape shape = view.integers("", 0);
  if (value.integers.size() == 1 && shape.size() == 1) {
    if (shape[0] < 0 || std::cmp_greater(shape[0], max_numbers)) {
      throw CannotMap("it makes more whole numbers than any shape has");
    }
    const Numbers numbers(static_cast<std::size_t>(shape[0]), value.integers.front());
    return importer.fold(node, whole_numbers(numbers));
  }
  importer.fold(node, {.shape = std::move(shape), .filled = value.scalar});
}

}  // namespace parbench::onnx_import
