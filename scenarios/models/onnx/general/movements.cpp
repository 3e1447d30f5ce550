// Operators that move elements and compute with shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::axes_between;
using general::dimension_of;
using general::Graph;

// --- shapes ---

/// Returns an extent as a number; samples_prime stands for the number of samples.
double number_of(const Extent& extent) {
  return static_cast<double>(extent.size * (extent.samples ? samples_prime : 1));
}

/// Returns integers as a constant, even for the shape of an activation.
Term integers_as_constant(Arguments& arguments, const Shape& shape, std::vector<double> values) {
  arguments.set_type(ElementType::integer);
  arguments.use_constants();
  return arguments.constant_of(shape, std::move(values));
}

Outputs shape(Arguments& arguments) {
  const Extents extents = arguments.shape(0);
  const std::int64_t rank = signed_size(extents.size());
  const auto bound = [&](std::string_view name, std::int64_t fallback) {
    const std::int64_t value = arguments.integer(name, fallback);
    return std::clamp(value < 0 ? value + rank : value, std::int64_t{0}, rank);
  };
  std::vector<double> values;
  for (std::int64_t d = bound("start", 0); d < bound("end", rank); ++d) {
    values.push_back(number_of(extents[static_cast<std::size_t>(d)]));
  }
  return {integers_as_constant(arguments, {signed_size(values.size())}, values)};
}

Outputs size(Arguments& arguments) {
  const double count = number_of(general::count_of(arguments.shape(0)));
  return {integers_as_constant(arguments, {}, {count})};
}

Outputs reshape(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Integers wanted = arguments.integers("shape", 1).value_or(Integers());
  return {x.reshape(reshaped_extents(x.shape(), wanted, arguments.translator().samples_of_file(),
                                     arguments.flag("allowzero", false)))};
}

/// Joins the dimensions before the axis, and joins the others.
Outputs flatten(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const std::int64_t axis = arguments.integer("axis", 1);
  const std::int64_t dimension = axis < 0 ? axis + signed_size(x.rank()) : axis;
  refuse_if(dimension < 0 || dimension > signed_size(x.rank()),
            fmt::format("its axis is {}", axis));
  return {divided_at(x, static_cast<std::size_t>(dimension))};
}

Outputs squeeze(Arguments& arguments) {
  const Term x = arguments.operand(0);
  if (const auto axes = arguments.integers("axes", 1)) return {squeezed(x, *axes)};
  const Extents from = x.shape();
  Integers ones;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d].is_one()) ones.push_back(signed_size(d));
  }
  return {squeezed(x, ones)};
}

Outputs unsqueeze(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const Integers axes = arguments.integers("axes", 1).value_or(Integers());
  const std::size_t rank = from.size() + axes.size();
  std::vector<bool> is_new(rank);
  for (const std::int64_t axis : axes) is_new[dimension_of(axis, rank)] = true;
  Extents to;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) to.push_back(is_new[d] ? Extent() : from.at(next++));
  return {x.reshape(std::move(to))};
}

Outputs transpose(Arguments& arguments) {
  Integers order = axes_between(0, arguments.rank(0));
  std::ranges::reverse(order);
  return {arguments.operand(0).permute(arguments.integer_list("perm", order))};
}

// --- repetitions ---

Outputs expand(Arguments& arguments) {
  const Extents wanted = extents_of_numbers(arguments.integers(1));
  if (general::count_of(wanted).samples) arguments.use_network();
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  Extents to(std::max(from.size(), wanted.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {  // from the end
    const Extent own = i < from.size() ? from[from.size() - 1 - i] : Extent();
    const Extent other = i < wanted.size() ? wanted[wanted.size() - 1 - i] : Extent();
    to[to.size() - 1 - i] = own.is_one() ? other : own;
  }
  return {x.broadcast(to)};
}

/// Repeats each dimension as a whole, unlike `repeated`.
Outputs tile(Arguments& arguments) {
  const Extents repeats = extents_of_numbers(arguments.integers(1));
  if (general::count_of(repeats).samples) arguments.use_network();
  const Term x = arguments.operand(0);
  Extents divided;
  Extents repeated;
  Extents joined;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const Extent own = x.shape().at(d);
    divided.insert(divided.end(), {Extent(), own});
    repeated.insert(repeated.end(), {repeats[d], own});
    joined.push_back(general::count_of({repeats[d], own}));
  }
  return {x.reshape(divided).broadcast(repeated).reshape(joined)};
}

Outputs constant_of_shape(Arguments& arguments) {
  const Extents extents = extents_of_numbers(arguments.integers(0));
  double value = 0;
  ElementType type = ElementType::floating;
  std::optional<IntegerRange> range;
  const auto found = arguments.node().attributes.find("value");
  if (found != arguments.node().attributes.end()) {
    if (const auto* constant = std::get_if<Constant>(&found->second)) {
      refuse_if(constant->numbers.size() != 1, "its value is not a single number");
      value = constant->numbers.front();
      type = constant->type;
      range = constant->range;
    }
  }
  arguments.set_type(type, range);
  const Extent count = general::count_of(extents);
  if (count.samples) {
    arguments.use_network();
    return {arguments.filled(static_cast<float>(value), extents)};
  }
  refuse_if(count.size > Graph::max_folded, "the resulting constant is too large");
  const auto size = static_cast<std::size_t>(count.size);
  return {arguments.constant_of(general::shape_at(extents, 1), std::vector<double>(size, value))};
}

Outputs constant(Arguments& arguments) {
  for (const auto& [name, attribute] : arguments.node().attributes) {
    if (const auto* value = std::get_if<Constant>(&attribute)) {
      arguments.set_type(value->type, value->range);
      Translator& translator = arguments.translator();
      return {translator.add_source(arguments.node().outputs.at(0), *value,
                                    !translator.has_initializers())};
    }
    arguments.set_type(name.starts_with("value_int") ? ElementType::integer
                                                     : ElementType::floating);
    if (const auto* number = std::get_if<double>(&attribute)) {
      return {arguments.constant_of({}, {*number})};
    }
    if (const auto* number = std::get_if<std::int64_t>(&attribute)) {
      return {arguments.constant_of({}, {static_cast<double>(*number)})};
    }
    if (const auto* list = std::get_if<Integers>(&attribute)) {
      return {arguments.constant_of({signed_size(list->size())}, {list->begin(), list->end()})};
    }
  }
  throw CannotTranslate("the type of its value is not supported");
}

Outputs range(Arguments& arguments) {
  const double start = arguments.number(0, 0);
  const double limit = arguments.number(1, 0);
  const double step = arguments.number(2, 1);
  const bool is_countable = limit > 0 && limit < 9e15;
  const Extents samples = extents_of_numbers({is_countable ? static_cast<std::int64_t>(limit) : 0});
  if (samples[0].samples) {  // indices of samples
    refuse_if(start != 0 || step != 1, "a range over a part of the batch is not supported");
    arguments.use_network();
    return {arguments.coordinate(samples, 0)};
  }
  const double count = std::ceil((limit - start) / step);
  const bool fits = count <= static_cast<double>(Graph::max_folded);  // false for NaN
  refuse_if(!fits, "the resulting constant is too large");
  std::vector<double> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    values.push_back(start + static_cast<double>(i) * step);
  }
  return {arguments.constant_of({signed_size(values.size())}, values)};
}

// --- parts ---

struct Part {
  Integers starts;
  Integers steps;
  Extents shape;
};

/// Slices a dimension to start, start + step, … before end, as in ONNX: negative positions count
/// from the end, and positions outside of the dimension are limited.
void cut(Part& part, std::size_t d, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t extent = part.shape[d].size;
  if (part.shape[d].samples) {
    if (start == 0 && step == 1 && end >= extent) return;
    throw CannotTranslate("slicing the batch dimension is not supported");
  }
  const auto inside = [&](std::int64_t index) {
    const std::int64_t from_front = index < 0 ? index + extent : index;
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
Term sliced(Arguments& arguments, Term x, const Part& part) {
  if (std::ranges::find(part.shape, 0, &Extent::size) == part.shape.end()) {
    return {x.graph, x.graph->slice(x, part.starts, part.steps, part.shape)};
  }
  refuse_if(arguments.is_network(), "its result has no elements");
  return arguments.constant_of(general::shape_at(part.shape, 1), {});
}

Part whole(const Extents& shape) {
  return {.starts = Integers(shape.size(), 0), .steps = Integers(shape.size(), 1), .shape = shape};
}

Outputs slice(Arguments& arguments) {
  const Term x = arguments.operand(0);
  Part part = whole(x.shape());
  const Integers starts = arguments.integers("starts", 1).value_or(Integers());
  const Integers ends = arguments.integers("ends", 2).value_or(Integers());
  const Integers axes = arguments.integers("axes", 3).value_or(axes_between(0, starts.size()));
  const Integers steps = arguments.has(4) ? arguments.integers(4) : Integers(starts.size(), 1);
  refuse_if(
      ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size(),
      "its starts, ends, axes and steps are of different lengths");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    refuse_if(steps[i] == 0, "it has a step of 0");
    cut(part, dimension_of(axes[i], part.shape.size()), starts[i], ends[i], steps[i]);
  }
  return {sliced(arguments, x, part)};
}

Outputs split(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::size_t axis = arguments.axis(0, from.size());
  const std::int64_t outputs = signed_size(arguments.node().outputs.size());
  const std::int64_t count = arguments.integer("num_outputs", outputs);
  refuse_if(count < 1 || count > outputs, fmt::format("num_outputs is {}", count));
  const std::int64_t usual = (from[axis].size + count - 1) / count;
  const Integers sizes =
      arguments.integers("split", 1).value_or(Integers(static_cast<std::size_t>(count), usual));
  refuse_if(from[axis].samples && sizes.size() > 1,
            "splitting the batch dimension is not supported");
  Outputs parts;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    refuse_if(sizes.size() > 1 && (size < 0 || size > from[axis].size),
              fmt::format("a part of size {} does not fit into a dimension of size {}", size,
                          from[axis].size));
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
  refuse_if(parts.empty(), "it has no inputs to concatenate");
  if (arguments.is_network()) {
    repeat_for_samples(arguments.graph(), parts, arguments.integer("axis", 1));
  }
  return {arguments.graph().concatenate(parts, arguments.integer("axis", 1))};
}

// --- padding ---

/// Returns `count` elements of padding for one end of a dimension, taken from its elements.
Term edge_of(Term x, std::size_t axis, std::int64_t count, bool front, const std::string& mode) {
  const std::int64_t extent = x.shape()[axis].size;
  if (mode == "edge") {
    const Term one = x.part(axis, front ? 0 : extent - 1, 1);
    Extents repeated = one.shape();
    repeated[axis] = {.size = count};
    return one.broadcast(repeated);
  }
  refuse_if(count > extent - (mode == "reflect" ? 1 : 0), "its padding is larger than its input");
  if (mode == "wrap") return x.part(axis, front ? extent - count : 0, count);
  return x.part(axis, front ? count : extent - 2, count, -1);
}

Term padded_with(Term x, std::size_t axis, std::int64_t front, std::int64_t back,
                 const std::string& mode) {
  std::vector<Term> parts;
  if (front > 0) parts.push_back(edge_of(x, axis, front, true, mode));
  parts.push_back(x);
  if (back > 0) parts.push_back(edge_of(x, axis, back, false, mode));
  return general::concatenated(parts, signed_size(axis));
}

Outputs pad(Arguments& arguments) {
  Term x = arguments.operand(0);
  const std::size_t rank = x.rank();
  const Integers pads = arguments.integers("pads", 1).value_or(Integers());
  const Integers axes = arguments.has(3) ? arguments.integers(3) : axes_between(0, rank);
  refuse_if(pads.size() != 2 * axes.size(), "it must have two paddings per axis");
  const std::string mode = arguments.text("mode", "constant");
  const double value = arguments.number("value", 2, 0);
  Integers front(rank, 0);
  Extents to = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = dimension_of(axes[i], rank);
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[axes.size() + i];
    if (before == 0 && after == 0) continue;
    refuse_if(to[axis].samples, "padding the batch dimension is not supported");
    if (before < 0 || after < 0) {
      Part part = whole(x.shape());
      cut(part, axis, std::max(-before, std::int64_t{0}),
          to[axis].size - std::max(-after, std::int64_t{0}), 1);
      x = sliced(arguments, x, part);
      to[axis] = part.shape[axis];
    }
    const std::int64_t added_front = std::max(before, std::int64_t{0});
    const std::int64_t added_back = std::max(after, std::int64_t{0});
    if (mode != "constant") {
      x = padded_with(x, axis, added_front, added_back, mode);
      to = x.shape();
      continue;
    }
    front[axis] = added_front;
    to[axis].size += added_front + added_back;
  }
  if (mode != "constant") return {x};
  return {x.place(front, to, static_cast<float>(value))};
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
