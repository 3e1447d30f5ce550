// Operators that select elements by index, and operators that find indices.
#include "scenarios/models/onnx/general/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::dimension_of;
using general::Extent;
using general::Extents;
using general::Graph;
using general::OpKind;
using enum ElementOp;

Extents joined(std::initializer_list<Extents> parts) {
  Extents all;
  for (const Extents& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Extents part_of(const Extents& shape, std::size_t first, std::size_t end) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(first),
          shape.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Converts negative indices, which count from the end.
int from_front(Graph& graph, int places, std::int64_t extent) {
  const int moved = graph.apply(addition, places, static_cast<float>(extent));
  return graph.select(graph.apply(less, places, graph.number(0)), moved, places);
}

void check_fixed(const Extent& extent) {
  if (extent.samples) throw CannotTranslate("it chooses among the samples");
}

/// Returns whether indices depend on the number of the sample to which the results belong.
bool counts_samples(const Graph& graph, int places) {
  const general::Operation& operation = graph.at(places);
  if (operation.kind == OpKind::element && operation.element == coordinate) {
    return operation.shape[static_cast<std::size_t>(operation.dimension)].samples;
  }
  constexpr std::array moving{OpKind::element, OpKind::expansion, OpKind::permutation,
                              OpKind::reshape, OpKind::slice,     OpKind::concatenation};
  return std::ranges::find(moving, operation.kind) != moving.end() &&
         std::ranges::any_of(operation.inputs,
                             [&](int input) { return counts_samples(graph, input); });
}

/// Converts indices in a dimension to count from its front. In the dimension of samples, each
/// sample selects itself.
int places_in(Graph& graph, const Extent& extent, int places) {
  if (!extent.samples) return from_front(graph, places, extent.size);
  if (!counts_samples(graph, places)) check_fixed(extent);
  return places;
}

/// Selects rows of a tensor with its axis first, in the order of indices of any shape.
int chosen(Graph& graph, int x, std::size_t axis, int indices) {
  const Extents from = graph.shape(x);
  const Extents by = graph.shape(indices);
  Integers order(from.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axis),
              order.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  const Extents front = part_of(from, 0, axis);
  const Extents back = part_of(from, axis + 1, from.size());
  const Extent width = general::count_of(joined({front, back}));
  const int table = graph.reshape(graph.permute(x, order), {from[axis], width});
  const int list = graph.reshape(indices, {general::count_of(by)});
  const int rows = graph.reshape(graph.rows(table, list), joined({by, front, back}));
  Integers back_order;  // the dimensions of the indices after those before the axis
  for (std::size_t d = 0; d < front.size(); ++d) back_order.push_back(signed_size(by.size() + d));
  for (std::size_t d = 0; d < by.size(); ++d) back_order.push_back(signed_size(d));
  for (std::size_t d = 0; d < back.size(); ++d) {
    back_order.push_back(signed_size(by.size() + front.size() + d));
  }
  return graph.permute(rows, back_order);
}

/// Returns tokens that select rows of a table of weights: the network's input, or a part of it.
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

/// Selects rows for all tokens, even if only some are requested: other operators on the same table
/// read the rest.
Outputs embedding(Arguments& arguments, int tokens) {
  const Extents table = arguments.shape(0);
  const int weights = arguments.constant(0, "rows");
  general::Graph& graph = arguments.graph();
  const general::Operation part = graph.at(tokens);
  const bool is_whole = part.kind == OpKind::input;
  const int rows = arguments.translator().add_layer(
      arguments.node(), std::make_shared<const Embedding>(table[0].size, table[1].size),
      {is_whole ? tokens : part.inputs.front()}, {{"weights", weights}}, weights);
  if (is_whole) return {rows};
  return {run_of(graph, rows, 1, part.starts.at(1), part.shape.at(1).size)};
}

Outputs gather(Arguments& arguments) {
  arguments.set_type(arguments.type(0));
  if (const auto tokens = tokens_of_table(arguments)) return embedding(arguments, *tokens);
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const std::size_t axis = dimension_of(arguments.integer("axis", 0), graph.shape(x).size());
  if (const auto value = graph.number_of(x)) {  // the same for any selection
    const Extents from = graph.shape(x);
    return {graph.number(*value, joined({part_of(from, 0, axis), arguments.shape(1),
                                         part_of(from, axis + 1, from.size())}))};
  }
  if (arguments.is_constant(1)) {
    Integers places = arguments.integers(1);
    const Extents by = arguments.shape(1);
    const int rows = taken(graph, x, axis, places);
    const Extents from = graph.shape(rows);
    return {graph.reshape(
        rows, joined({part_of(from, 0, axis), by, part_of(from, axis + 1, from.size())}))};
  }
  const int places = places_in(graph, graph.shape(x)[axis], arguments.operand(1));
  return {chosen(graph, x, axis, places)};
}

/// Returns the index in the flattened tensor of that shape, for each element of the result: its
/// coordinates are those of the element, except `places` in the axis.
int flat_places(Graph& graph, const Extents& shape, std::size_t axis, int places) {
  const Extents by = graph.shape(places);
  int flat = graph.number(0, by);
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const bool is_outermost =
        std::ranges::all_of(part_of(shape, 0, d), [](const Extent& one) { return one.is_one(); });
    if (shape[d].samples && !is_outermost) throw CannotTranslate("its samples are not in front");
    const int own = d == axis ? places : graph.coordinate(by, static_cast<int>(d));
    flat = graph.apply(addition, flat, graph.apply(product, own, static_cast<float>(stride)));
    stride *= shape[d].size;
  }
  return flat;
}

Outputs gather_elements(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::size_t axis = dimension_of(arguments.integer("axis", 0), from.size());
  if (const auto value = graph.number_of(x)) return {graph.number(*value, arguments.shape(1))};
  check_fixed(from[axis]);
  const int places = from_front(graph, arguments.operand(1), from[axis].size);
  const Extents by = graph.shape(places);
  const int flat = flat_places(graph, from, axis, places);
  const int table = graph.reshape(x, {general::count_of(from), {1}});
  return {graph.reshape(graph.rows(table, graph.reshape(flat, {general::count_of(by)})), by)};
}

/// Row indices of a tensor, from coordinates in its dimensions after the first `batch`.
struct RowPlaces {
  int places = 0;  // shape: that of the coordinates without the last dimension
  Extent rows;     // rows of the tensor
  Extents behind;  // the dimensions of a row
};

/// Returns the number of dimensions that the coordinates index.
std::size_t named_by(const Extents& coordinates, std::size_t batch, const Extents& from) {
  if (coordinates.size() <= batch || coordinates.back().samples ||
      coordinates.back().size > signed_size(from.size()) - signed_size(batch)) {
    throw CannotTranslate("its coordinates do not fit its input");
  }
  return static_cast<std::size_t>(coordinates.back().size);
}

RowPlaces row_places(Graph& graph, const Extents& from, int coordinates, std::size_t batch) {
  const Extents by = graph.shape(coordinates);
  const std::size_t named = named_by(by, batch, from);
  const Extents list = part_of(by, 0, by.size() - 1);
  RowPlaces found;
  found.behind = part_of(from, batch + named, from.size());
  found.rows = general::count_of(part_of(from, 0, batch + named));
  std::int64_t stride = 1;
  found.places = graph.number(0, list);
  for (std::size_t d = batch + named; d-- > 0;) {
    int own = 0;
    if (d < batch) {
      own = graph.coordinate(list, static_cast<int>(d));
    } else {
      const int one = run_of(graph, coordinates, by.size() - 1, signed_size(d - batch), 1);
      own = places_in(graph, from[d], graph.reshape(one, list));
    }
    const int scaled = graph.apply(product, own, static_cast<float>(stride));
    found.places = graph.apply(addition, found.places, scaled);
    stride *= from[d].size;
  }
  return found;
}

std::size_t batch_dimensions(const Arguments& arguments, const Extents& from) {
  const std::int64_t batch = arguments.integer("batch_dims", 0);
  if (batch < 0 || batch >= signed_size(from.size())) {
    throw CannotTranslate(fmt::format("batch_dims is {}", batch));
  }
  return static_cast<std::size_t>(batch);
}

Outputs gather_nd(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const int coordinates = arguments.operand(1);
  const std::size_t batch = batch_dimensions(arguments, from);
  if (const auto value = graph.number_of(x)) {  // the same for any selection
    Extents list = graph.shape(coordinates);
    const std::int64_t samples = arguments.translator().samples_of_file();
    if (samples > 1 && !list.empty() && list.front() == Extent{.size = samples}) {
      list.front() = {1, true};
    }
    const std::size_t named = batch + named_by(list, batch, from);
    return {graph.number(
        *value, joined({part_of(list, 0, list.size() - 1), part_of(from, named, from.size())}))};
  }
  const RowPlaces at = row_places(graph, from, coordinates, batch);
  const Extents list = graph.shape(at.places);
  const int table = graph.reshape(x, {at.rows, general::count_of(at.behind)});
  const int rows = graph.rows(table, graph.reshape(at.places, {general::count_of(list)}));
  return {graph.reshape(rows, joined({list, at.behind}))};
}

/// Replaces rows of a tensor, or adds to them.
int scattered(Arguments& arguments, int x, const Extent& rows, const Extent& width, int places,
              int updates) {
  Graph& graph = arguments.graph();
  const Extents from = graph.shape(x);
  const Extent count = general::count_of(graph.shape(places));
  const int list = graph.reshape(places, {count});
  const int sums =
      graph.reshape(graph.scatter_rows(graph.reshape(updates, {count, width}), list, rows), from);
  const std::string reduction = arguments.attribute("reduction", std::string("none"));
  if (reduction == "add") return graph.apply(addition, x, sums);
  if (reduction != "none") throw CannotTranslate("its reduction is " + reduction);
  const int hits = graph.scatter_rows(graph.number(1, {count, width}), list, rows);
  return graph.select(graph.reshape(hits, from), sums, x);
}

Outputs scatter_elements(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::size_t axis = dimension_of(arguments.integer("axis", 0), from.size());
  check_fixed(from[axis]);
  const int places = from_front(graph, arguments.operand(1), from[axis].size);
  const int flat = flat_places(graph, from, axis, places);
  return {scattered(arguments, x, general::count_of(from), {1}, flat, arguments.operand(2))};
}

Outputs scatter_nd(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const RowPlaces at = row_places(graph, from, arguments.operand(1), 0);
  return {scattered(arguments, x, at.rows, general::count_of(at.behind), at.places,
                    arguments.operand(2))};
}

// --- places ---

Outputs one_hot(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const std::int64_t depth = arguments.integer(1, 0);
  if (depth < 1 || arguments.shape(2) != Extents{{.size = 2}}) {
    throw CannotTranslate("it has no depth, or not two values");
  }
  const int indices = from_front(graph, arguments.operand(0), depth);
  Extents shape = graph.shape(indices);
  const std::size_t axis = dimension_of(arguments.integer("axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Extent());
  const int wide = graph.reshape(indices, shape);
  shape[axis] = {.size = depth};
  const int places = graph.coordinate(shape, static_cast<int>(axis));
  const int values = arguments.operand(2);  // {off, on}
  arguments.set_type(arguments.type(2));
  const int off = graph.reshape(run_of(graph, values, 0, 0, 1), {});
  const int on = graph.reshape(run_of(graph, values, 0, 1, 1), {});
  return {graph.select(graph.apply(equal, places, wide), on, off)};
}

template <Reduction reduction>
Outputs extreme_place(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::size_t axis = dimension_of(arguments.integer("axis", 0), from.size());
  const std::int64_t signed_axis = signed_size(axis);
  check_fixed(from[axis]);
  const bool is_last = arguments.flag("select_last_index", false);
  const int hit = graph.apply(equal, x, graph.reduce(reduction, x, {signed_axis}));
  const int places = graph.coordinate(from, static_cast<int>(axis));
  const int beyond = graph.number(is_last ? -1.0F : static_cast<float>(from[axis].size));
  int found = graph.reduce(is_last ? Reduction::maximum : Reduction::minimum,
                           graph.select(hit, places, beyond), {signed_axis});
  arguments.set_type(ElementType::integer);
  if (arguments.flag("keepdims", true)) return {found};
  Extents to = graph.shape(found);
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  return {graph.reshape(found, to)};
}

/// Sorts by counting, for each element, how many precede it; memory grows with the square of the
/// dimension.
Outputs top_k(Arguments& arguments) {
  constexpr std::int64_t max_sorted = 2048;
  Graph& graph = arguments.graph();
  const std::size_t axis = dimension_of(arguments.integer("axis", -1), arguments.rank(0));
  const auto count =
      arguments.has_attribute("k") ? arguments.integer("k", 1) : arguments.integer(1, 1);
  const int x = with_axis_last(graph, arguments.operand(0), axis);
  const Extents from = graph.shape(x);
  check_fixed(from.back());
  if (from.back().size > max_sorted) {
    throw CannotTranslate(fmt::format("it sorts more than {} elements", max_sorted));
  }
  const Extents front = part_of(from, 0, from.size() - 1);
  const Extents as_row = joined({front, {{1}, from.back()}});
  const Extents as_column = joined({front, {from.back(), {1}}});
  const Extents pairs = joined({front, {from.back(), from.back()}});
  const int own = graph.broadcast(graph.reshape(x, as_column), pairs);
  const int other = graph.broadcast(graph.reshape(x, as_row), pairs);
  const bool largest = arguments.flag("largest", true);
  const int ahead = largest ? graph.apply(less, own, other) : graph.apply(less, other, own);
  const int rank = static_cast<int>(pairs.size());
  const int earlier =
      graph.apply(less, graph.coordinate(pairs, rank - 1), graph.coordinate(pairs, rank - 2));
  const int tied = graph.apply(product, graph.apply(equal, own, other), earlier);
  const int order = graph.sum(graph.apply(maximum, ahead, tied), {-1});  // {…, n, 1}
  const Extents chosen_shape = joined({front, {from.back(), {.size = count}}});
  const int hit = graph.apply(equal, order, graph.coordinate(chosen_shape, rank - 1));
  const auto summed = [&](int values) {
    const int sum = graph.sum(graph.select(hit, values, graph.number(0)), {-2});
    return with_last_at(graph, graph.reshape(sum, joined({front, {{.size = count}}})), axis);
  };
  const int places = graph.coordinate(as_column, rank - 2);
  const int values = summed(graph.reshape(x, as_column));
  return {values, summed(places)};
}

/// Computes sums of 2, 4, 8 … elements, each from two of the previous step.
Outputs cumulative_sum(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::size_t axis = dimension_of(arguments.integer(1, 0), from.size());
  check_fixed(from[axis]);
  const std::int64_t extent = from[axis].size;
  const auto shifted = [&](int values, std::int64_t distance) {
    Integers starts(from.size(), 0);
    starts[axis] = distance;
    const int kept = run_of(graph, values, axis, 0, extent - distance);
    return graph.place(kept, starts, Integers(from.size(), 1), from);
  };
  const bool reverse = arguments.flag("reverse", false);
  if (reverse) x = run_of(graph, x, axis, extent - 1, extent, -1);
  if (arguments.flag("exclusive", false)) x = extent > 1 ? shifted(x, 1) : graph.number(0, from);
  for (std::int64_t distance = 1; distance < extent; distance *= 2) {
    x = graph.apply(addition, x, shifted(x, distance));
  }
  return {reverse ? run_of(graph, x, axis, extent - 1, extent, -1) : x};
}

/// Keeps the elements above or below a diagonal of the last two dimensions.
Outputs triangle(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  if (shape.size() < 2) throw CannotTranslate("its input has fewer than two dimensions");
  const auto diagonal = static_cast<float>(arguments.number(1, 0));
  const Extents last{shape.end()[-2], shape.back()};
  const int row = graph.apply(addition, graph.coordinate(last, 0), diagonal);
  const int column = graph.coordinate(last, 1);
  const int outside = arguments.flag("upper", true) ? graph.apply(less, column, row)
                                                    : graph.apply(less, row, column);
  return {graph.select(outside, graph.number(0), x)};
}

Outputs eye_like(Arguments& arguments) {
  const Extents shape = arguments.shape(0);
  arguments.use_network();
  Graph& graph = arguments.graph();
  const auto diagonal = static_cast<float>(arguments.integer("k", 0));
  const int row = graph.apply(addition, graph.coordinate(shape, 0), diagonal);
  return {graph.apply(equal, row, graph.coordinate(shape, 1))};
}

}  // namespace

int run_of(general::Graph& graph, int x, std::size_t axis, std::int64_t first, std::int64_t count,
           std::int64_t step) {
  Extents shape = graph.shape(x);
  Integers starts(shape.size(), 0);
  Integers steps(shape.size(), 1);
  starts[axis] = first;
  steps[axis] = step;
  shape[axis] = {.size = count};
  return graph.slice(x, starts, steps, shape);
}

int taken(general::Graph& graph, int x, std::size_t axis, const Integers& places) {
  const std::int64_t extent = graph.shape(x)[axis].size;
  check_fixed(graph.shape(x)[axis]);
  if (places.empty()) throw CannotTranslate("it takes no elements");
  std::vector<double> from_front;
  for (const std::int64_t place : places) {
    from_front.push_back(static_cast<double>(place < 0 ? place + extent : place));
    if (from_front.back() < 0 || from_front.back() >= static_cast<double>(extent)) {
      throw CannotTranslate(fmt::format("it chooses element {} of {}", place, extent));
    }
  }
  const double step = from_front.size() > 1 ? from_front[1] - from_front[0] : 1;
  bool is_run = step != 0;
  for (std::size_t i = 1; i < from_front.size(); ++i) {
    is_run = is_run && from_front[i] - from_front[i - 1] == step;
  }
  const std::int64_t count = signed_size(places.size());
  if (is_run) {
    return run_of(graph, x, axis, static_cast<std::int64_t>(from_front.front()), count,
                  static_cast<std::int64_t>(step));
  }
  return chosen(graph, x, axis, graph.constant({count}, from_front));
}

int with_axis_last(general::Graph& graph, int x, std::size_t axis) {
  Integers order(graph.shape(x).size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = order.begin() + static_cast<std::ptrdiff_t>(axis);
  std::rotate(place, place + 1, order.end());
  return graph.permute(x, order);
}

int with_last_at(general::Graph& graph, int x, std::size_t axis) {
  Integers order(graph.shape(x).size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(axis), order.end() - 1, order.end());
  return graph.permute(x, order);
}

int sigmoid(general::Graph& graph, int x) {
  const int half = graph.apply(product, x, 0.5F);
  return graph.apply(addition, graph.apply(product, graph.apply(tanh, half), 0.5F), 0.5F);
}

OperatorTable indexing_operators() {
  return {{"ArgMax", extreme_place<Reduction::maximum>},
          {"ArgMin", extreme_place<Reduction::minimum>},
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
