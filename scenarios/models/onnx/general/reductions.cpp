// Operators that reduce dimensions, and normalisations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scenarios/models/layers/norms.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::dimension_of;
using general::Extents;
using general::Graph;
using enum ElementOp;

Integers dimensions_from(std::size_t first, std::size_t rank) {
  if (first > rank) {
    throw CannotTranslate(fmt::format("its input needs {} dimensions and has {}", first, rank));
  }
  Integers axes(rank - first);
  std::iota(axes.begin(), axes.end(), signed_size(first));
  return axes;
}

// --- reductions ---

int squared(Graph& graph, int x) { return graph.apply(product, x, x); }

int summed(Graph& graph, int x, const Integers& axes) { return graph.sum(x, axes); }
int averaged(Graph& graph, int x, const Integers& axes) { return graph.mean(x, axes); }
int max_over(Graph& graph, int x, const Integers& axes) {
  return graph.reduce(Reduction::maximum, x, axes);
}
int min_over(Graph& graph, int x, const Integers& axes) {
  return graph.reduce(Reduction::minimum, x, axes);
}
int multiplied(Graph& graph, int x, const Integers& axes) {
  return graph.reduce(Reduction::product, x, axes);
}
int sum_of_sizes(Graph& graph, int x, const Integers& axes) {
  return graph.sum(graph.apply(absolute, x), axes);
}
int sum_of_squares(Graph& graph, int x, const Integers& axes) {
  return graph.sum(squared(graph, x), axes);
}
int root_of_squares(Graph& graph, int x, const Integers& axes) {
  return graph.apply(square_root, sum_of_squares(graph, x, axes));
}
int log_of_sum(Graph& graph, int x, const Integers& axes) {
  return graph.apply(logarithm, graph.sum(x, axes));
}

/// Returns a number above all elements and at most 1 above the maximum, without a gradient.
int ceiling_of(Graph& graph, int x, const Integers& axes) {
  return graph.apply(ceiling, max_over(graph, x, axes));
}

int log_of_powers(Graph& graph, int x, const Integers& axes) {
  const int shift = ceiling_of(graph, x, axes);
  const int powers = graph.apply(exponential, graph.apply(difference, x, shift));
  return graph.apply(addition, log_of_sum(graph, powers, axes), shift);
}

int without(Graph& graph, int x, const Integers& axes) {
  Extents shape;
  const Extents& from = graph.shape(x);
  for (std::size_t d = 0; d < from.size(); ++d) {
    const bool is_left_out = axes.empty() || std::ranges::any_of(axes, [&](std::int64_t axis) {
                               return dimension_of(axis, from.size()) == d;
                             });
    if (!is_left_out) shape.push_back(from[d]);
  }
  return graph.reshape(x, std::move(shape));
}

template <int (*formula)(Graph&, int, const Integers&)>
Outputs reduced(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Integers axes = arguments.integers("axes", 1).value_or(Integers());
  if (axes.empty() && arguments.flag("noop_with_empty_axes", false)) return {x};
  const Integers all = axes.empty() ? dimensions_from(0, graph.shape(x).size()) : axes;
  const int result = formula(graph, x, all);
  return {arguments.flag("keepdims", true) ? result : without(graph, result, all)};
}

// --- softmax ---

/// Before operator set 13, all dimensions from the axis on are joined.
Integers softmax_axes(const Arguments& arguments, std::size_t rank, bool is_joined) {
  const std::int64_t axis = arguments.integer("axis", is_joined ? 1 : -1);
  const std::size_t first = dimension_of(axis, rank);
  return is_joined ? dimensions_from(first, rank) : Integers{signed_size(first)};
}

bool has_joined_axes(Arguments& arguments) { return arguments.translator().opset() < 13; }

Outputs softmax(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Integers axes = softmax_axes(arguments, graph.shape(x).size(), has_joined_axes(arguments));
  return {softmax_over(graph, x, axes)};
}

Outputs log_softmax(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Integers axes = softmax_axes(arguments, graph.shape(x).size(), has_joined_axes(arguments));
  return {log_softmax_over(graph, x, axes)};
}

/// Returns 1 at the first of the largest elements, otherwise 0.
Outputs hardmax(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  if (has_joined_axes(arguments)) {
    const auto axis =
        static_cast<std::ptrdiff_t>(dimension_of(arguments.integer("axis", 1), shape.size()));
    x = graph.reshape(x, {general::count_of({shape.begin(), shape.begin() + axis}),
                          general::count_of({shape.begin() + axis, shape.end()})});
  }
  const std::size_t axis =
      has_joined_axes(arguments) ? 1 : dimension_of(arguments.integer("axis", -1), shape.size());
  const Integers axes{signed_size(axis)};
  const int places = graph.coordinate(graph.shape(x), static_cast<int>(axis));
  const int hit = graph.apply(equal, x, max_over(graph, x, axes));
  const int beyond = graph.number(static_cast<float>(graph.shape(x)[axis].size));
  const int first = min_over(graph, graph.select(hit, places, beyond), axes);
  return {graph.reshape(graph.apply(equal, places, first), shape)};
}

// --- normalisations ---

/// Returns an operand with one element per channel, for dimension 1 of a tensor of that rank.
int channel_operand(Arguments& arguments, std::size_t which, std::size_t rank) {
  Graph& graph = arguments.graph();
  const int values = arguments.operand(which);
  Extents shape(rank);
  shape.at(1) = general::count_of(graph.shape(values));
  return graph.reshape(values, std::move(shape));
}

int scaled_by_channel(Arguments& arguments, int x) {
  Graph& graph = arguments.graph();
  const std::size_t rank = graph.shape(x).size();
  const int scaled = graph.apply(product, x, channel_operand(arguments, 1, rank));
  return graph.apply(addition, scaled, channel_operand(arguments, 2, rank));
}

Outputs layer_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  const std::size_t axis = dimension_of(arguments.integer("axis", -1), shape.size());
  const auto is_row = [&](std::size_t which) {
    return arguments.is_weight(which) && arguments.shape(which) == Extents{shape.back()};
  };
  if (axis + 1 == shape.size() && shape.size() <= 3 && starts_with_samples(shape) && is_row(1) &&
      is_row(2)) {
    const int scale = arguments.constant(1, "scales");
    return {arguments.translator().add_layer(
        arguments.node(), std::make_shared<const LayerNorm>(epsilon), {x},
        {{"scale", scale}, {"shift", arguments.constant(2, "shifts")}}, scale)};
  }
  int result = normalised(graph, x, dimensions_from(axis, shape.size()), epsilon);
  result = graph.apply(product, result, arguments.operand(1));
  return {arguments.has(2) ? graph.apply(addition, result, arguments.operand(2)) : result};
}

Outputs root_mean_square_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const std::size_t rank = graph.shape(x).size();
  const Integers axes = dimensions_from(dimension_of(arguments.integer("axis", -1), rank), rank);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  const int mean = graph.apply(addition, graph.mean(squared(graph, x), axes), epsilon);
  const int result = graph.apply(quotient, x, graph.apply(square_root, mean));
  return {graph.apply(product, result, arguments.operand(1))};
}

/// Uses the batch's own statistics, as in training, even if the file is for inference.
Outputs batch_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  if (shape.size() < 2) throw CannotTranslate("its input has no channels");
  for (std::size_t which = 1; which < arguments.count(); ++which) {
    if (arguments.shape(which) != Extents{shape[1]}) {
      throw CannotTranslate("its parameters are not one a channel");
    }
  }
  if (shape.size() == 4 && starts_with_samples(shape) && arguments.is_weight(1) &&
      arguments.is_weight(2)) {
    const int scale = arguments.constant(1, "scales");
    return {arguments.translator().add_layer(
        arguments.node(), std::make_shared<const BatchNorm>(false, epsilon), {x},
        {{"scale", scale}, {"shift", arguments.constant(2, "shifts")}}, scale)};
  }
  Integers axes = dimensions_from(0, shape.size());
  axes.erase(axes.begin() + 1);
  return {scaled_by_channel(arguments, normalised(graph, x, axes, epsilon))};
}

Outputs instance_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  const int result = normalised(graph, x, dimensions_from(2, graph.shape(x).size()), epsilon);
  return {scaled_by_channel(arguments, result)};
}

/// Before operator set 21, there is one scale and one shift per group.
Outputs group_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  const std::int64_t groups = arguments.integer("num_groups", 1);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  Extents grouped = shape;
  if (groups < 1 || shape.at(1).size % groups != 0) throw CannotTranslate("its groups are unequal");
  grouped[1] = {.size = groups};
  grouped.insert(grouped.begin() + 2, {.size = shape[1].size / groups});
  int result = graph.reshape(x, grouped);
  result = normalised(graph, result, dimensions_from(2, grouped.size()), epsilon);
  const bool is_by_group = general::count_of(arguments.shape(1)).size == groups;
  if (is_by_group) result = scaled_by_channel(arguments, result);
  result = graph.reshape(result, shape);
  return {is_by_group ? result : scaled_by_channel(arguments, result)};
}

Outputs mean_variance_norm(Arguments& arguments) {
  constexpr float epsilon = 1e-9F;
  const Integers axes = arguments.integer_list("axes", {0, 2, 3});
  return {normalised(arguments.graph(), arguments.operand(0), axes, epsilon)};
}

Outputs lp_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Integers axes{arguments.integer("axis", -1)};
  const bool is_first = arguments.integer("p", 2) == 1;
  const int size = is_first ? sum_of_sizes(graph, x, axes) : root_of_squares(graph, x, axes);
  return {graph.apply(quotient, x, size)};
}

Outputs response_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents shape = graph.shape(x);
  const std::int64_t size = arguments.integer("size", 1);
  const double alpha = arguments.attribute("alpha", 1e-4);
  const double beta = arguments.attribute("beta", 0.75);
  const double offset = arguments.attribute("bias", 1.0);
  if (shape.size() == 4 && starts_with_samples(shape) && size % 2 == 1) {
    const LocalResponseNorm kind({.size = size,
                                  .alpha = static_cast<float>(alpha),
                                  .beta = static_cast<float>(beta),
                                  .offset = static_cast<float>(offset)});
    return {arguments.translator().add_layer(
        arguments.node(), std::make_shared<const LocalResponseNorm>(kind), {x}, {}, -1)};
  }
  if (size < 1 || size > 2 * shape.at(1).size) {
    throw CannotTranslate(fmt::format("its size is {}", size));
  }
  Extents padded = shape;
  padded[1].size += size - 1;
  Integers starts(shape.size(), 0);
  starts[1] = (size - 1) / 2;
  const int squares = graph.place(squared(graph, x), starts, Integers(shape.size(), 1), padded);
  int sum = run_of(graph, squares, 1, 0, shape[1].size);
  for (std::int64_t i = 1; i < size; ++i) {
    sum = graph.apply(addition, sum, run_of(graph, squares, 1, i, shape[1].size));
  }
  sum = graph.apply(product, sum, static_cast<float>(alpha / static_cast<double>(size)));
  sum = graph.apply(addition, sum, static_cast<float>(offset));
  return {graph.apply(quotient, x, graph.apply(power, sum, static_cast<float>(beta)))};
}

/// Means or maxima over all pixels.
template <int (*formula)(Graph&, int, const Integers&)>
Outputs global_pool(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  return {formula(graph, x, dimensions_from(2, graph.shape(x).size()))};
}

}  // namespace

int softmax_over(general::Graph& graph, int x, const Integers& axes) {
  const int shifted = graph.apply(difference, x, ceiling_of(graph, x, axes));
  const int powers = graph.apply(exponential, shifted);
  return graph.apply(quotient, powers, graph.sum(powers, axes));
}

int log_softmax_over(general::Graph& graph, int x, const Integers& axes) {
  return graph.apply(difference, x, log_of_powers(graph, x, axes));
}

int normalised(general::Graph& graph, int x, const Integers& axes, float epsilon) {
  const int centred = graph.apply(difference, x, graph.mean(x, axes));
  const int variance = graph.mean(squared(graph, centred), axes);
  const int deviation = graph.apply(square_root, graph.apply(addition, variance, epsilon));
  return graph.apply(quotient, centred, deviation);
}

OperatorTable reduction_operators() {
  return {{"BatchNormalization", batch_norm},
          {"GlobalAveragePool", global_pool<averaged>},
          {"GlobalMaxPool", global_pool<max_over>},
          {"GroupNormalization", group_norm},
          {"Hardmax", hardmax},
          {"InstanceNormalization", instance_norm},
          {"LRN", response_norm},
          {"LayerNormalization", layer_norm},
          {"LogSoftmax", log_softmax},
          {"LpNormalization", lp_norm},
          {"MeanVarianceNormalization", mean_variance_norm},
          {"RMSNormalization", root_mean_square_norm},
          {"ReduceL1", reduced<sum_of_sizes>},
          {"ReduceL2", reduced<root_of_squares>},
          {"ReduceLogSum", reduced<log_of_sum>},
          {"ReduceLogSumExp", reduced<log_of_powers>},
          {"ReduceMax", reduced<max_over>},
          {"ReduceMean", reduced<averaged>},
          {"ReduceMin", reduced<min_over>},
          {"ReduceProd", reduced<multiplied>},
          {"ReduceSum", reduced<summed>},
          {"ReduceSumSquare", reduced<sum_of_squares>},
          {"Softmax", softmax}};
}

}  // namespace parbench::onnx_import
