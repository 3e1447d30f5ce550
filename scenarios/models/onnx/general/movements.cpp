// Operators that move elements and compute with shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/general/reshaping.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::dimension_of;
using general::Extent;
using general::Extents;
using general::Graph;

Shape shape_of_constant(const Extents& extents) { return general::shape_at(extents, 1); }

// --- shapes ---

Outputs shape(Arguments& arguments) {
  const Extents extents = arguments.shape(0);
  const std::int64_t rank = signed_size(extents.size());
  const auto bound = [&](std::string_view name, std::int64_t fallback) {
    const std::int64_t value = arguments.integer(name, fallback);
    return std::clamp(value < 0 ? value + rank : value, std::int64_t{0}, rank);
  };
  std::vector<double> values;
  for (std::int64_t d = bound("start", 0); d < bound("end", rank); ++d) {
    const Extent& extent = extents[static_cast<std::size_t>(d)];
    values.push_back(static_cast<double>(extent.size * (extent.samples ? samples_prime : 1)));
  }
  arguments.set_type(ElementType::integer);
  arguments.use_constants();
  const std::int64_t count = signed_size(values.size());
  return {arguments.graph().constant({count}, std::move(values))};
}

Outputs size(Arguments& arguments) {
  const Extent count = general::count_of(arguments.shape(0));
  arguments.set_type(ElementType::integer);
  arguments.use_constants();
  return {arguments.graph().constant(
      {}, {static_cast<double>(count.size * (count.samples ? samples_prime : 1))})};
}

int reshaped(Arguments& arguments, int x, const Integers& wanted, bool keeps_zeros = false) {
  Graph& graph = arguments.graph();
  const Extents from = graph.shape(x);
  return graph.reshape(
      x, reshaped_extents(from, wanted, arguments.translator().samples_of_file(), keeps_zeros));
}

Outputs reshape(Arguments& arguments) {
  const int x = arguments.operand(0);
  const Integers wanted = arguments.integers("shape", 1).value_or(Integers());
  return {reshaped(arguments, x, wanted, arguments.flag("allowzero", false))};
}

/// Joins the dimensions before the axis, and those from the axis on.
Outputs flatten(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::int64_t axis = arguments.integer("axis", 1);
  const auto place = static_cast<std::ptrdiff_t>(axis < 0 ? axis + signed_size(from.size()) : axis);
  if (place < 0 || place > static_cast<std::ptrdiff_t>(from.size())) {
    throw CannotTranslate(fmt::format("its axis is {}", axis));
  }
  return {graph.reshape(x, {general::count_of({from.begin(), from.begin() + place}),
                            general::count_of({from.begin() + place, from.end()})})};
}

Outputs squeeze(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  std::vector<bool> is_left_out(from.size());
  if (const auto axes = arguments.integers("axes", 1)) {
    for (const std::int64_t axis : *axes) is_left_out[dimension_of(axis, from.size())] = true;
  } else {
    for (std::size_t d = 0; d < from.size(); ++d) is_left_out[d] = from[d].is_one();
  }
  Extents to;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!is_left_out[d]) to.push_back(from[d]);
  }
  return {graph.reshape(x, std::move(to))};
}

Outputs unsqueeze(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const Integers axes = arguments.integers("axes", 1).value_or(Integers());
  const std::size_t rank = from.size() + axes.size();
  std::vector<bool> is_new(rank);
  for (const std::int64_t axis : axes) is_new[dimension_of(axis, rank)] = true;
  Extents to;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) to.push_back(is_new[d] ? Extent() : from.at(next++));
  return {graph.reshape(x, std::move(to))};
}

Outputs transpose(Arguments& arguments) {
  const int x = arguments.operand(0);
  Integers order(arguments.rank(0));
  std::iota(order.rbegin(), order.rend(), 0);
  return {arguments.graph().permute(x, arguments.integer_list("perm", order))};
}

// --- repetitions ---

Outputs expand(Arguments& arguments) {
  const Extents wanted = extents_of_numbers(arguments.integers(1));
  if (general::count_of(wanted).samples) arguments.use_network();
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  Extents to(std::max(from.size(), wanted.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {  // from the end
    const Extent own = i < from.size() ? from[from.size() - 1 - i] : Extent();
    const Extent other = i < wanted.size() ? wanted[wanted.size() - 1 - i] : Extent();
    to[to.size() - 1 - i] = own.is_one() ? other : own;
  }
  return {graph.broadcast(x, to)};
}

/// Repeats each dimension as a whole.
Outputs tile(Arguments& arguments) {
  const Extents repeats = extents_of_numbers(arguments.integers(1));
  if (general::count_of(repeats).samples) arguments.use_network();
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  Extents divided;
  Extents repeated;
  Extents joined;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const Extent own = graph.shape(x).at(d);
    divided.insert(divided.end(), {Extent(), own});
    repeated.insert(repeated.end(), {repeats[d], own});
    joined.push_back(general::count_of({repeats[d], own}));
  }
  return {graph.reshape(graph.broadcast(graph.reshape(x, divided), repeated), joined)};
}

Outputs constant_of_shape(Arguments& arguments) {
  const Extents extents = extents_of_numbers(arguments.integers(0));
  double value = 0;
  ElementType type = ElementType::floating;
  const auto found = arguments.node().attributes.find("value");
  if (found != arguments.node().attributes.end()) {
    if (const auto* constant = std::get_if<Constant>(&found->second)) {
      if (constant->numbers.size() != 1) throw CannotTranslate("its value is not a single number");
      value = constant->numbers.front();
      type = constant->type;
    }
  }
  arguments.set_type(type);
  const Extent count = general::count_of(extents);
  if (count.samples) {
    arguments.use_network();
    return {arguments.graph().number(static_cast<float>(value), extents)};
  }
  if (count.size > Graph::max_folded)
    throw CannotTranslate("it makes a constant that is too large");
  return {
      arguments.graph().constant(shape_of_constant(extents),
                                 std::vector<double>(static_cast<std::size_t>(count.size), value))};
}

Outputs constant(Arguments& arguments) {
  for (const auto& [name, attribute] : arguments.node().attributes) {
    if (const auto* value = std::get_if<Constant>(&attribute)) {
      arguments.set_type(value->type);
      Translator& translator = arguments.translator();
      return {translator.add_source(arguments.node().outputs.at(0), *value,
                                    !translator.has_initializers())};
    }
    arguments.set_type(name.starts_with("value_int") ? ElementType::integer
                                                     : ElementType::floating);
    if (const auto* number = std::get_if<double>(&attribute)) {
      return {arguments.graph().constant({}, {*number})};
    }
    if (const auto* number = std::get_if<std::int64_t>(&attribute)) {
      return {arguments.graph().constant({}, {static_cast<double>(*number)})};
    }
    if (const auto* list = std::get_if<Integers>(&attribute)) {
      return {
          arguments.graph().constant({signed_size(list->size())}, {list->begin(), list->end()})};
    }
  }
  throw CannotTranslate("its value is of a type that is not supported");
}

Outputs range(Arguments& arguments) {
  const double start = arguments.number(0, 0);
  const double limit = arguments.number(1, 0);
  const double step = arguments.number(2, 1);
  const bool is_countable = limit > 0 && limit < 9e15;
  const Extents samples = extents_of_numbers({is_countable ? static_cast<std::int64_t>(limit) : 0});
  if (samples[0].samples) {  // indices of samples
    if (start != 0 || step != 1) throw CannotTranslate("it counts a part of the samples");
    arguments.use_network();
    return {arguments.graph().coordinate(samples, 0)};
  }
  const double count = std::ceil((limit - start) / step);
  const bool fits = count <= static_cast<double>(Graph::max_folded);  // false for NaN
  if (!fits) throw CannotTranslate("it makes a constant that is too large");
  std::vector<double> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    values.push_back(start + static_cast<double>(i) * step);
  }
  const std::int64_t size = signed_size(values.size());
  return {arguments.graph().constant({size}, std::move(values))};
}

// --- parts ---

struct Part {
  Integers starts;
  Integers steps;
  Extents shape;
};

/// Limits the elements [start, end) to those of a dimension.
void cut(Part& part, std::size_t d, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t extent = part.shape[d].size;
  if (part.shape[d].samples) {
    const bool is_whole = start == 0 && step == 1 && (end < 0 || end >= extent);
    if (is_whole) return;
    throw CannotTranslate("it takes a part of the samples");
  }
  const auto inside = [&](std::int64_t place) {
    const std::int64_t from_front = place < 0 ? place + extent : place;
    return step > 0 ? std::clamp(from_front, std::int64_t{0}, extent)
                    : std::clamp(from_front, std::int64_t{-1}, extent - 1);
  };
  const std::int64_t first = inside(start);
  const std::int64_t last = inside(end);
  const std::int64_t count =
      step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
  part.starts[d] = count > 0 ? first : 0;
  part.steps[d] = step;
  part.shape[d] = {.size = std::max(count, std::int64_t{0})};
}

/// Slices a tensor. The slice of a constant, such as a shape, may be empty.
int sliced(Arguments& arguments, int x, const Part& part) {
  const bool is_empty =
      std::ranges::any_of(part.shape, [](const Extent& one) { return one.size == 0; });
  if (!is_empty) return arguments.graph().slice(x, part.starts, part.steps, part.shape);
  if (arguments.is_network()) throw CannotTranslate("it takes no elements");
  return arguments.graph().constant(shape_of_constant(part.shape), {});
}

Part whole(const Extents& shape) {
  return {.starts = Integers(shape.size(), 0), .steps = Integers(shape.size(), 1), .shape = shape};
}

Outputs slice(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  Part part = whole(graph.shape(x));
  const Integers starts = arguments.integers("starts", 1).value_or(Integers());
  const Integers ends = arguments.integers("ends", 2).value_or(Integers());
  Integers axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = arguments.integers("axes", 3).value_or(axes);
  const Integers steps = arguments.has(4) ? arguments.integers(4) : Integers(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    throw CannotTranslate("its starts, ends, axes and steps are of different lengths");
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) throw CannotTranslate("it has a step of 0");
    cut(part, dimension_of(axes[i], part.shape.size()), starts[i], ends[i], steps[i]);
  }
  return {sliced(arguments, x, part)};
}

Outputs split(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::size_t axis = dimension_of(arguments.integer("axis", 0), from.size());
  const std::int64_t count =
      arguments.integer("num_outputs", signed_size(arguments.node().outputs.size()));
  if (count < 1 || count > signed_size(arguments.node().outputs.size())) {
    throw CannotTranslate(fmt::format("num_outputs is {}", count));
  }
  const std::int64_t usual = (from[axis].size + count - 1) / count;
  Integers sizes(static_cast<std::size_t>(count), usual);
  sizes = arguments.integers("split", 1).value_or(sizes);
  if (from[axis].samples && sizes.size() > 1) throw CannotTranslate("it divides the samples");
  Outputs parts;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    if (sizes.size() > 1 && (size < 0 || size > from[axis].size)) {
      throw CannotTranslate(fmt::format("a part of {} is split off {}", size, from[axis].size));
    }
    Part part = whole(from);
    if (sizes.size() > 1) cut(part, axis, first, first + size, 1);
    first += size;
    parts.push_back(sliced(arguments, x, part));
  }
  return parts;
}

/// Repeats parts without samples for each sample if other parts contain samples.
void repeat_for_samples(Graph& graph, Outputs& parts, std::int64_t axis) {
  const Extents first = graph.shape(parts.front());
  const std::size_t joined = dimension_of(axis, first.size());
  for (std::size_t d = 0; d < first.size(); ++d) {
    const auto found = std::ranges::find_if(parts, [&](int part) {
      return graph.shape(part).size() == first.size() && graph.shape(part)[d].samples;
    });
    if (d == joined || found == parts.end()) continue;
    const Extent samples = graph.shape(*found)[d];
    for (int& part : parts) {
      Extents to = graph.shape(part);
      if (to.size() != first.size() || !to[d].is_one()) continue;
      to[d] = samples;
      part = graph.broadcast(part, to);
    }
  }
}

Outputs concatenate(Arguments& arguments) {
  Outputs parts;
  for (std::size_t which = 0; which < arguments.count(); ++which) {
    if (arguments.shape(which) == Extents{{0}}) continue;  // empty tensors
    parts.push_back(arguments.operand(which));
  }
  if (parts.empty()) throw CannotTranslate("it joins nothing");
  if (arguments.is_network()) {
    repeat_for_samples(arguments.graph(), parts, arguments.integer("axis", 1));
  }
  return {arguments.graph().concatenate(parts, arguments.integer("axis", 1))};
}

// --- padding ---

/// Returns `count` elements of padding before or after a dimension.
int edge_of(Graph& graph, int x, std::size_t axis, std::int64_t count, bool front,
            const std::string& mode) {
  const std::int64_t extent = graph.shape(x)[axis].size;
  if (mode == "edge") {
    const int one = run_of(graph, x, axis, front ? 0 : extent - 1, 1, 1);
    Extents repeated = graph.shape(one);
    repeated[axis] = {.size = count};
    return graph.broadcast(one, repeated);
  }
  if (count > extent - (mode == "reflect" ? 1 : 0)) {
    throw CannotTranslate("it pads with more elements than there are");
  }
  if (mode == "wrap") return run_of(graph, x, axis, front ? extent - count : 0, count, 1);
  return front ? run_of(graph, x, axis, count, count, -1)
               : run_of(graph, x, axis, extent - 2, count, -1);
}

int padded_with(Graph& graph, int x, std::size_t axis, std::int64_t front, std::int64_t back,
                const std::string& mode) {
  std::vector<int> parts;
  if (front > 0) parts.push_back(edge_of(graph, x, axis, front, true, mode));
  parts.push_back(x);
  if (back > 0) parts.push_back(edge_of(graph, x, axis, back, false, mode));
  return graph.concatenate(std::move(parts), signed_size(axis));
}

/// Pads a tensor with a number: with zeros, to which the number is added in the padding.
int padded_with_number(Graph& graph, int x, const Integers& front, const Extents& to, float value) {
  if (value == 0) return graph.place(x, front, Integers(front.size(), 1), to);
  const int ones = graph.number(1, graph.shape(x));
  const int is_inside = graph.place(ones, front, Integers(front.size(), 1), to);
  const int placed = graph.place(x, front, Integers(front.size(), 1), to);
  return graph.select(is_inside, placed, graph.number(value));
}

Outputs pad(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  const std::size_t rank = graph.shape(x).size();
  const Integers pads = arguments.integers("pads", 1).value_or(Integers());
  Integers axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (arguments.has(3)) axes = arguments.integers(3);
  if (pads.size() != 2 * axes.size()) throw CannotTranslate("it has not two paddings an axis");
  const std::string mode = arguments.attribute("mode", std::string("constant"));
  const double value =
      arguments.has_attribute("value") ? arguments.attribute("value", 0.0) : arguments.number(2, 0);
  Integers front(rank, 0);
  Extents to = graph.shape(x);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = dimension_of(axes[i], rank);
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[axes.size() + i];
    if (before == 0 && after == 0) continue;
    if (to[axis].samples) throw CannotTranslate("it pads the samples");
    if (before < 0 || after < 0) {
      Part part = whole(graph.shape(x));
      cut(part, axis, std::max(-before, std::int64_t{0}),
          to[axis].size - std::max(-after, std::int64_t{0}), 1);
      x = sliced(arguments, x, part);
      to[axis] = part.shape[axis];
    }
    const std::int64_t added_front = std::max(before, std::int64_t{0});
    const std::int64_t added_back = std::max(after, std::int64_t{0});
    if (mode != "constant") {
      x = padded_with(graph, x, axis, added_front, added_back, mode);
      to = graph.shape(x);
      continue;
    }
    front[axis] = added_front;
    to[axis].size += added_front + added_back;
  }
  if (mode != "constant") return {x};
  return {padded_with_number(graph, x, front, to, static_cast<float>(value))};
}

}  // namespace

OperatorTable movement_operators() {
  return {{"Concat", concatenate}, {"Constant", constant}, {"ConstantOfShape", constant_of_shape},
          {"Expand", expand},      {"Flatten", flatten},   {"Pad", pad},
          {"Range", range},        {"Reshape", reshape},   {"Shape", shape},
          {"Size", size},          {"Slice", slice},       {"Split", split},
          {"Squeeze", squeeze},    {"Tile", tile},         {"Transpose", transpose},
          {"Unsqueeze", unsqueeze}};
}

}  // namespace parbench::onnx_import
