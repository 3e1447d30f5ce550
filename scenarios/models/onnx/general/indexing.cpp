// Operators that select elements by index, and operators that find indices.
#include "scenarios/models/onnx/general/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::axes_between;
using general::dimension_of;
using general::joined;
using general::OpKind;
using general::part_of;
using enum ElementOp;

/// Converts negative indices, which count from the end.
Term from_front(Term indices, std::int64_t extent) {
  const Term moved = indices + static_cast<float>(extent);
  return indices.less(0.0F).choose(moved, indices);
}

void check_fixed(const Extent& extent) {
  refuse_if(extent.samples, "indexing along the batch dimension is not supported");
}

/// Returns whether indices are computed from the number of the sample to which the results belong.
bool counts_samples(const general::Graph& graph, int indices) {
  const general::Operation& operation = graph.at(indices);
  if (operation.kind == OpKind::element && operation.element == coordinate) {
    return operation.shape[static_cast<std::size_t>(operation.dimension)].samples;
  }
  constexpr std::array moving{OpKind::element, OpKind::expansion, OpKind::permutation,
                              OpKind::reshape, OpKind::slice,     OpKind::concatenation};
  return std::ranges::find(moving, operation.kind) != moving.end() &&
         std::ranges::any_of(operation.inputs,
                             [&](int input) { return counts_samples(graph, input); });
}

/// Converts indices in a dimension to count from its front. In the dimension of samples, throws
/// CannotTranslate unless the indices are computed from numbers of samples (counts_samples).
Term indices_in(const Extent& extent, Term indices) {
  if (!extent.samples) return from_front(indices, extent.size);
  if (!counts_samples(*indices.graph, indices)) check_fixed(extent);
  return indices;
}

/// Returns the shape of a selection: a dimension replaced by those of the indices.
Extents shape_of_choice(const Extents& from, std::size_t axis, const Extents& by) {
  return joined({part_of(from, 0, axis), by, part_of(from, axis + 1, from.size())});
}

/// Selects elements of a dimension by indices. The dimensions of `indices` replace that dimension.
Term chosen(Term x, std::size_t axis, Term indices) {
  const Extents from = x.shape();
  const Extents others = without_dimension(from, axis);
  const Term table = x.move_axis(axis, 0).reshape({from[axis], general::count_of(others)});
  const Term rows = table.rows(indices).reshape(joined({indices.shape(), others}));
  general::Axes order = axes_between(0, rows.rank());  // moves the indices to the axis
  const auto by = order.begin() + static_cast<std::ptrdiff_t>(indices.rank());
  std::rotate(order.begin(), by, by + static_cast<std::ptrdiff_t>(axis));
  return rows.permute(std::move(order));
}

/// Returns the tokens, the network's input or a part of it, by which a node selects rows of a table
/// of weights; nothing for other nodes.
std::optional<int> tokens_of_table(Arguments& arguments) {
  if (!arguments.is_network() || arguments.is_constant(1) || !arguments.is_constant(0)) {
    return std::nullopt;
  }
  const general::Graph& network = arguments.translator().network();
  const auto is_input = [&](int index) {
    return network.at(index).kind == OpKind::input && network.shape(index).size() == 2;
  };
  const int indices = arguments.tensor(1).operation;
  const general::Operation& part = network.at(indices);
  const bool is_part = part.kind == OpKind::slice && is_input(part.inputs.front());
  const bool fits = (is_input(indices) || is_part) && arguments.rank(0) == 2 &&
                    arguments.integer("axis", 0) == 0 &&
                    arguments.translator().is_trainable(arguments.tensor(0).operation);
  return fits ? std::optional(indices) : std::nullopt;
}

/// Selects rows for all tokens, even if the node reads only some: other nodes may read the rest.
Outputs embedding(Arguments& arguments, int tokens) {
  const Extents table = arguments.shape(0);
  const int weights = arguments.constant(0, "rows");
  const general::Operation part = arguments.graph().at(tokens);
  const bool is_whole = part.kind == OpKind::input;
  const Term rows = arguments.add_layer(
      std::make_shared<const Embedding>(table[0].size, table[1].size),
      {is_whole ? tokens : part.inputs.front()}, {{"weights", weights}}, weights);
  if (is_whole) return {rows};
  return {rows.part(1, part.starts.at(1), part.shape.at(1).size)};
}

Outputs gather(Arguments& arguments) {
  arguments.set_type_of(0);
  if (const auto tokens = tokens_of_table(arguments)) return embedding(arguments, *tokens);
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::size_t axis = arguments.axis(0, from.size());
  if (const auto value = x.graph->number_of(x)) {  // same result for any indices
    return {arguments.filled(*value, shape_of_choice(from, axis, arguments.shape(1)))};
  }
  if (arguments.is_constant(1)) {
    const Term rows = taken(x, axis, arguments.integers(1));
    return {rows.reshape(shape_of_choice(from, axis, arguments.shape(1)))};
  }
  return {chosen(x, axis, indices_in(from[axis], arguments.operand(1)))};
}

/// Returns, for each element of `indices`, the index of an element of the flattened tensor: the one
/// with the same coordinates, but with the value in `indices` as the coordinate in `axis`.
Term flat_indices(const Extents& shape, std::size_t axis, Term indices) {
  Term flat = indices.filled(0);
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const bool is_outermost = std::ranges::all_of(part_of(shape, 0, d), &Extent::is_one);
    refuse_if(shape[d].samples && !is_outermost, "the batch must be its first dimension");
    const Term own = d == axis ? indices : indices.coordinate(d);
    flat = flat + own * static_cast<float>(stride);
    stride *= shape[d].size;
  }
  return flat;
}

/// A node's input 0 and its axis, in which indices from other inputs select elements.
struct Elements {
  explicit Elements(Arguments& arguments)
      : x(arguments.operand(0)), shape(x.shape()), axis(arguments.axis(0, shape.size())) {}

  [[nodiscard]] Term flat(Term indices) const {
    check_fixed(shape[axis]);
    return flat_indices(shape, axis, from_front(indices, shape[axis].size));
  }

  Term x;
  Extents shape;
  std::size_t axis;
};

Outputs gather_elements(Arguments& arguments) {
  const Elements of(arguments);
  if (const auto value = of.x.graph->number_of(of.x)) {
    return {arguments.filled(*value, arguments.shape(1))};
  }
  const Term flat = of.flat(arguments.operand(1));
  const Term table = of.x.reshape({general::count_of(of.shape), {1}});
  return {table.rows(flat).reshape(flat.shape())};
}

/// Indices of the rows that a list of coordinates selects in a tensor. The coordinates omit the
/// first batch_dims dimensions, which tensor and list have in common.
struct RowIndices {
  Term indices;  // in the shape of the coordinates without the last dimension
  Extent rows;   // number of rows of the tensor
  Extents row;   // dimensions of a row
};

/// Returns the number of dimensions that the coordinates index.
std::size_t named_by(const Extents& coordinates, std::size_t batch, const Extents& from) {
  refuse_if(coordinates.size() <= batch || coordinates.back().samples ||
                coordinates.back().size > signed_size(from.size()) - signed_size(batch),
            "its coordinates do not match the dimensions of its input");
  return static_cast<std::size_t>(coordinates.back().size);
}

RowIndices row_indices(const Extents& from, Term coordinates, std::size_t batch) {
  const Extents by = coordinates.shape();
  const std::size_t end = batch + named_by(by, batch, from);
  const Extents list = part_of(by, 0, by.size() - 1);
  general::Graph* graph = coordinates.graph;
  RowIndices found{.indices = {graph, graph->number(0, list)},
                   .rows = general::count_of(part_of(from, 0, end)),
                   .row = part_of(from, end, from.size())};
  std::int64_t stride = 1;
  for (std::size_t d = end; d-- > 0;) {
    Term own = found.indices;
    if (d < batch) {
      own = own.coordinate(d);
    } else {
      const Term one = coordinates.part(by.size() - 1, signed_size(d - batch), 1);
      own = indices_in(from[d], one.reshape(list));
    }
    found.indices = found.indices + own * static_cast<float>(stride);
    stride *= from[d].size;
  }
  return found;
}

std::size_t batch_dimensions(const Arguments& arguments, const Extents& from) {
  const std::int64_t batch = arguments.integer("batch_dims", 0);
  refuse_if(batch < 0 || batch >= signed_size(from.size()), fmt::format("batch_dims is {}", batch));
  return static_cast<std::size_t>(batch);
}

Outputs gather_nd(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const Term coordinates = arguments.operand(1);
  const std::size_t batch = batch_dimensions(arguments, from);
  if (const auto value = x.graph->number_of(x)) {  // same result for any indices
    Extents list = coordinates.shape();
    const std::int64_t samples = arguments.translator().samples_of_file();
    if (samples > 1 && !list.empty() && list.front() == Extent{.size = samples}) {
      list.front() = {1, true};
    }
    const std::size_t named = batch + named_by(list, batch, from);
    list.pop_back();
    return {arguments.filled(*value, joined({list, part_of(from, named, from.size())}))};
  }
  const RowIndices at = row_indices(from, coordinates, batch);
  const Term table = x.reshape({at.rows, general::count_of(at.row)});
  return {table.rows(at.indices).reshape(joined({at.indices.shape(), at.row}))};
}

/// Replaces rows of a tensor by the rows of input 2 or, with reduction "add", adds the rows of
/// input 2 to rows of the tensor.
Term scattered(Arguments& arguments, Term x, const Extent& rows, const Extent& width,
               Term indices) {
  const Term updates = arguments.operand(2);
  const Extents from = x.shape();
  const Extent count = general::count_of(indices.shape());
  const Term list = indices.reshape({count});
  const auto placed = [&](Term values) {
    return Term{x.graph, x.graph->scatter_rows(values, list, rows)}.reshape(from);
  };
  const Term sums = placed(updates.reshape({count, width}));
  const std::string reduction = arguments.text("reduction", "none");
  if (reduction == "add") return x + sums;
  refuse_if(reduction != "none", "its reduction is " + reduction);
  return placed(arguments.filled(1, {count, width})).choose(sums, x);
}

Outputs scatter_elements(Arguments& arguments) {
  const Elements of(arguments);
  const Term flat = of.flat(arguments.operand(1));
  return {scattered(arguments, of.x, general::count_of(of.shape), {1}, flat)};
}

Outputs scatter_nd(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const RowIndices at = row_indices(x.shape(), arguments.operand(1), 0);
  return {scattered(arguments, x, at.rows, general::count_of(at.row), at.indices)};
}

// --- positions ---

Outputs one_hot(Arguments& arguments) {
  const std::int64_t depth = arguments.integer(1, 0);
  refuse_if(depth < 1 || arguments.shape(2) != Extents{{.size = 2}},
            "its depth must be at least 1, and it must have two values");
  const Term indices = from_front(arguments.operand(0), depth);
  const std::size_t axis = arguments.axis(-1, indices.rank() + 1);
  const Term wide = indices.reshape(with_dimension(indices.shape(), axis));
  const Term positions = arguments.coordinate(
      with_dimension(indices.shape(), axis, {.size = depth}), static_cast<int>(axis));
  const Term values = arguments.operand(2);  // {off, on}
  arguments.set_type_of(2);
  const Term off = values.part(0, 0, 1).reshape({});
  const Term on = values.part(0, 1, 1).reshape({});
  return {positions.equal(wide).choose(on, off)};
}

template <Reduction reduction>
Outputs extreme_index(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::size_t axis = arguments.axis(0, from.size());
  check_fixed(from[axis]);
  const bool is_last = arguments.flag("select_last_index", false);
  const general::Axes axes{signed_size(axis)};
  const Term hit = x.equal(x.reduce(reduction, axes));
  const float beyond = is_last ? -1.0F : static_cast<float>(from[axis].size);
  const Term found = hit.choose(x.coordinate(axis), beyond)
                         .reduce(is_last ? Reduction::maximum : Reduction::minimum, axes);
  arguments.set_type(ElementType::integer);
  if (arguments.flag("keepdims", true)) return {found};
  return {squeezed(found, axes)};
}

/// Sorts by counting the elements that precede each element; memory grows with the square of the
/// dimension.
Outputs top_k(Arguments& arguments) {
  constexpr std::int64_t max_sorted = 2048;
  const std::size_t axis = arguments.axis(-1);
  const std::size_t last = arguments.rank(0) - 1;
  const auto count =
      arguments.has_attribute("k") ? arguments.integer("k", 1) : arguments.integer(1, 1);
  const Term x = arguments.operand(0).move_axis(axis, last);
  const Extents from = x.shape();
  check_fixed(from.back());
  refuse_if(from.back().size > max_sorted,
            fmt::format("sorting more than {} elements is not supported", max_sorted));
  const Extents front = part_of(from, 0, last);
  const Extents pairs = joined({front, {from.back(), from.back()}});
  const Term column = x.reshape(joined({from, {{1}}}));
  const Term own = column.broadcast(pairs);
  const Term other = x.reshape(joined({front, {{1}, from.back()}})).broadcast(pairs);
  const bool largest = arguments.flag("largest", true);
  const Term precedes = largest ? own.less(other) : other.less(own);
  const Term earlier = own.coordinate(last + 1).less(own.coordinate(last));
  const Term tied = own.equal(other) * earlier;
  const Term order = precedes.max(tied).sum({-1});  // {…, n, 1}
  const Extents shape = joined({from, {{.size = count}}});
  const Term hit = order.equal(arguments.coordinate(shape, static_cast<int>(last) + 1));
  const auto summed = [&](Term values) {
    const Term sum = hit.choose(values, 0.0F).sum({-2});
    return sum.reshape(joined({front, {{.size = count}}})).move_axis(last, axis);
  };
  const Term values = summed(column);
  return {values, summed(column.coordinate(last))};
}

/// Computes sums of the last 2, 4, 8 … elements, each step from two sums of the previous step.
Outputs cumulative_sum(Arguments& arguments) {
  Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::size_t axis = dimension_of(arguments.integer(1, 0), from.size());
  check_fixed(from[axis]);
  const std::int64_t extent = from[axis].size;
  const auto shifted = [&](Term values, std::int64_t distance) {
    Integers starts(from.size(), 0);
    starts[axis] = distance;
    return values.part(axis, 0, extent - distance).place(starts, from);
  };
  const bool reverse = arguments.flag("reverse", false);
  if (reverse) x = x.reversed(axis);
  if (arguments.flag("exclusive", false)) x = extent > 1 ? shifted(x, 1) : x.filled(0);
  for (std::int64_t distance = 1; distance < extent; distance *= 2) x = x + shifted(x, distance);
  return {reverse ? x.reversed(axis) : x};
}

/// Keeps the elements on and above, or on and below, a diagonal of the last two dimensions.
Outputs triangle(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  refuse_if(shape.size() < 2, "its input has fewer than two dimensions");
  const auto diagonal = static_cast<float>(arguments.number(1, 0));
  const Extents last = part_of(shape, shape.size() - 2, shape.size());
  const Term row = arguments.coordinate(last, 0) + diagonal;
  const Term column = arguments.coordinate(last, 1);
  const Term outside = arguments.flag("upper", true) ? column.less(row) : row.less(column);
  return {outside.choose(0.0F, x)};
}

Outputs eye_like(Arguments& arguments) {
  const Extents shape = arguments.shape(0);
  arguments.use_network();
  const auto diagonal = static_cast<float>(arguments.integer("k", 0));
  const Term row = arguments.coordinate(shape, 0) + diagonal;
  return {row.equal(arguments.coordinate(shape, 1))};
}

}  // namespace

Extents with_dimension(Extents shape, std::size_t dimension, Extent extent) {
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), extent);
  return shape;
}

Extents without_dimension(Extents shape, std::size_t dimension) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dimension));
  return shape;
}

Term squeezed(Term x, const Integers& axes) {
  const Extents from = x.shape();
  std::vector<bool> is_left_out(from.size());
  for (const std::int64_t axis : axes) is_left_out[dimension_of(axis, from.size())] = true;
  Extents to;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!is_left_out[d]) to.push_back(from[d]);
  }
  return x.reshape(std::move(to));
}

Term divided_at(Term x, std::size_t dimension) {
  const Extents shape = x.shape();
  return x.reshape({general::count_of(part_of(shape, 0, dimension)),
                    general::count_of(part_of(shape, dimension, shape.size()))});
}

Term along(Term values, std::size_t dimension, std::size_t rank) {
  Extents shape(rank);
  shape.at(dimension) = general::count_of(values.shape());
  return values.reshape(std::move(shape));
}

Term repeated(Term x, std::size_t axis, std::int64_t times) {
  Extents to = x.shape();
  const Extents one = with_dimension(to, axis + 1);
  const Extents wide = with_dimension(to, axis + 1, {.size = times});
  to[axis].size *= times;
  return x.reshape(one).broadcast(wide).reshape(to);
}

Term taken(Term x, std::size_t axis, const Integers& indices) {
  const std::int64_t extent = x.shape()[axis].size;
  check_fixed(x.shape()[axis]);
  refuse_if(indices.empty(), "its result has no elements");
  std::vector<double> from_front;
  for (const std::int64_t index : indices) {
    from_front.push_back(static_cast<double>(index < 0 ? index + extent : index));
    if (from_front.back() >= 0 && from_front.back() < static_cast<double>(extent)) continue;
    throw CannotTranslate(fmt::format("its index {} is outside of the {} elements", index, extent));
  }
  const double step = from_front.size() > 1 ? from_front[1] - from_front[0] : 1;
  bool is_run = step != 0;
  for (std::size_t i = 1; i < from_front.size(); ++i) {
    is_run = is_run && from_front[i] - from_front[i - 1] == step;
  }
  const std::int64_t count = signed_size(indices.size());
  if (is_run) {
    return x.part(axis, static_cast<std::int64_t>(from_front.front()), count,
                  static_cast<std::int64_t>(step));
  }
  return chosen(x, axis, {x.graph, x.graph->constant({count}, from_front)});
}

OperatorTable indexing_operators() {
  return {{"ArgMax", extreme_index<Reduction::maximum>},
          {"ArgMin", extreme_index<Reduction::minimum>},
          {"CumSum", cumulative_sum},
          {"EyeLike", eye_like},
          {"Gather", gather},
          {"GatherElements", gather_elements},
          {"GatherND", gather_nd},
          {"OneHot", one_hot},
          {"Scatter", scatter_elements},
          {"ScatterElements", scatter_elements},
          {"ScatterND", scatter_nd},
          {"TopK", top_k},
          {"Trilu", triangle}};
}

}  // namespace parbench::onnx_import
