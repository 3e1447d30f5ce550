// Convolutions. Those with square windows become layers of their own kinds; others become products
// with the elements that each tap reads.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/general/windows.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Graph;
using enum ElementOp;

/// Returns {N, C, …} as {groups, N·results, C/groups·taps}.
int columns_of(Graph& graph, int x, const Windows& windows, std::int64_t groups) {
  const Extents shape = graph.shape(x);
  const Extent own{.size = shape[1].size / groups};
  std::vector<int> parts;
  for (const Integers& tap : taps_of(windows)) {
    const int one = read_by_tap(graph, x, windows, tap);
    Extents divided = graph.shape(one);
    divided[1] = own;
    divided.insert(divided.begin() + 1, {{.size = groups}});
    divided.emplace_back();
    parts.push_back(graph.reshape(one, divided));  // {N, groups, C/groups, …, 1}
  }
  const int all = graph.concatenate(std::move(parts), -1);
  Integers order{1, 0};
  for (std::int64_t d = 3; d + 1 < static_cast<std::int64_t>(graph.shape(all).size()); ++d) {
    order.push_back(d);
  }
  order.push_back(2);
  order.push_back(static_cast<std::int64_t>(graph.shape(all).size()) - 1);
  const int ordered = graph.permute(all, order);
  const Extents to = graph.shape(ordered);
  return graph.reshape(ordered, {to.front(), general::count_of({to.begin() + 1, to.end() - 2}),
                                 general::count_of({to.end() - 2, to.end()})});
}

int by_channel(Graph& graph, int values, std::size_t rank) {
  Extents shape(rank);
  shape[1] = graph.shape(values)[0];
  return graph.reshape(values, std::move(shape));
}

/// `weights`: {O, C/groups, …}.
int convolved(Graph& graph, int x, int weights, const Windows& windows, std::int64_t groups) {
  check_taps(windows);
  x = padded(graph, x, windows, 0);
  const Extents from = graph.shape(x);
  const Extents filter = graph.shape(weights);
  const Extent outputs{.size = filter[0].size / groups};
  const int columns = columns_of(graph, x, windows, groups);
  const int matrix = graph.permute(
      graph.reshape(weights, {{.size = groups}, outputs, graph.shape(columns).back()}), {0, 2, 1});
  const int result = graph.multiply(columns, matrix);  // {groups, N·results, O/groups}
  Extents to{{.size = groups}, from[0]};
  for (const std::int64_t count : windows.results) to.push_back({.size = count});
  to.push_back(outputs);
  const std::int64_t last = static_cast<std::int64_t>(to.size()) - 1;
  Integers order{1, 0, last};
  for (std::int64_t d = 2; d < last; ++d) order.push_back(d);
  Extents merged{from[0], filter[0]};
  for (const std::int64_t count : windows.results) merged.push_back({.size = count});
  return graph.reshape(graph.permute(graph.reshape(result, to), order), merged);
}

Outputs convolution(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const Integers image = image_of(from);
  const Extents filter = arguments.shape(1);
  const std::int64_t groups = arguments.integer("group", 1);
  if (filter.size() != from.size() || groups < 1 || groups > from[1].size || filter[0].size < 1 ||
      from[1].size != filter[1].size * groups || filter[0].size % groups != 0) {
    throw CannotTranslate(fmt::format("its weights {} do not fit its input {}, in {} groups",
                                      general::to_string(filter), general::to_string(from),
                                      groups));
  }
  Integers kernel;
  for (std::size_t d = 2; d < filter.size(); ++d) kernel.push_back(filter[d].size);
  Windows windows = windows_of(arguments, image, kernel);
  const bool has_bias = arguments.has(2);
  if (has_bias && arguments.shape(2) != Extents{filter[0]}) {
    throw CannotTranslate("its biases are not one an output");
  }
  auto square = square_window(windows, image, false);
  if (!square) {  // zeros around the image may make the edges alike
    const int whole = padded(graph, x, windows, 0);
    Windows bare = windows;
    bare.front.assign(windows.rank(), 0);
    bare.back.assign(windows.rank(), 0);
    square = square_window(bare, image_of(graph.shape(whole)), false);
    if (square) {
      x = whole;
      windows = std::move(bare);
    }
  }
  if (square && arguments.is_network() && starts_with_samples(from) && arguments.is_weight(1) &&
      (!has_bias || arguments.is_weight(2))) {
    const int weights = arguments.constant(1, "weights");
    int shaped = weights;
    if (groups > 1) {  // {groups, O/groups, C/groups, …}
      shaped = arguments.translator().constants().reshape(
          weights,
          {{.size = groups}, {.size = filter[0].size / groups}, filter[1], filter[2], filter[3]});
    }
    std::vector<std::pair<std::string, int>> parameters{{"weights", shaped}};
    if (has_bias) parameters.emplace_back("bias", arguments.constant(2, "biases"));
    return {arguments.translator().add_layer(
        arguments.node(),
        std::make_shared<const Convolution>(Convolution::Options{
            .out_channels = filter[0].size, .window = *square, .groups = groups, .bias = has_bias}),
        {x}, std::move(parameters), weights)};
  }
  int result = convolved(graph, x, arguments.operand(1), windows, groups);
  if (has_bias) {
    result = graph.apply(addition, result, by_channel(graph, arguments.weights(2), from.size()));
  }
  return {result};
}

/// Returns a transposed convolution with square windows as a layer; nothing for others.
std::optional<int> transposed_layer(Arguments& arguments, int x, const Windows& windows,
                                    std::int64_t groups, const Integers& added, bool has_bias) {
  const auto alike = [](const Integers& values) {
    return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
  };
  const bool is_square = windows.rank() == 2 && alike(windows.kernel) && alike(windows.strides) &&
                         alike(windows.dilations);
  const Extents from = arguments.graph().shape(x);
  if (!is_square || !arguments.is_network() || !starts_with_samples(from) ||
      !arguments.is_weight(1)) {
    return std::nullopt;
  }
  const bool has_added = alike(added) && added.front() < windows.strides.front();
  const int weights = arguments.constant(1, "weights");
  std::vector<std::pair<std::string, int>> parameters{{"weights", weights}};
  if (has_bias) parameters.emplace_back("bias", arguments.constant(2, "biases"));
  return arguments.translator().add_layer(
      arguments.node(),
      std::make_shared<const TransposedConvolution>(
          TransposedConvolution::Options{.out_channels = arguments.shape(1)[1].size * groups,
                                         .window = {.kernel = windows.kernel[0],
                                                    .stride = windows.strides[0],
                                                    .dilation = windows.dilations[0]},
                                         .output_padding = has_added ? added.front() : 0,
                                         .groups = groups,
                                         .bias = has_bias}),
      {x}, std::move(parameters), weights);
}

/// Adds each tap of the weights, times the input, to every stride-th element of the result.
/// NOLINTNEXTLINE(readability-function-size): the steps of one formula
Outputs transposed_convolution(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const Integers image = image_of(from);
  const Extents filter = arguments.shape(1);  // {C, O/groups, …}
  const std::int64_t groups = arguments.integer("group", 1);
  const std::size_t rank = image.size();
  Windows windows{.kernel = {},
                  .strides = of_rank(arguments, "strides", rank, 1),
                  .dilations = of_rank(arguments, "dilations", rank, 1),
                  .front = {},
                  .back = {},
                  .results = image};
  for (std::size_t d = 2; d < filter.size(); ++d) windows.kernel.push_back(filter[d].size);
  if (windows.rank() != rank || from[1] != filter[0] || groups < 1 || groups > from[1].size ||
      filter[0].size % groups != 0) {
    throw CannotTranslate(fmt::format("its weights {} in {} groups do not fit its input {}",
                                      general::to_string(filter), groups,
                                      general::to_string(from)));
  }
  check_kernel(windows.kernel);
  check_taps(windows);
  const Integers pads = of_rank(arguments, "pads", 2 * rank, 0);
  const Integers added = of_rank(arguments, "output_padding", rank, 0);
  const Integers wanted = arguments.integer_list("output_shape", {});
  if (!wanted.empty() && wanted.size() < rank) {
    throw CannotTranslate("its output_shape does not fit its input");
  }
  const std::string automatic = arguments.attribute("auto_pad", std::string("NOTSET"));
  Extents whole{from[0], {.size = filter[1].size * groups}};
  Integers first(rank + 2, 0);
  Extents kept = whole;
  bool has_zeros_behind = false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t full = (image[d] - 1) * windows.strides[d] + windows.reach(d) + added[d];
    std::int64_t front = pads[d];
    std::int64_t size = full - pads[d] - pads[rank + d];
    if (!wanted.empty() || automatic.starts_with("SAME")) {
      size = wanted.empty() ? image[d] * windows.strides[d] : wanted[wanted.size() - rank + d];
      const std::int64_t total = std::max(full - size, std::int64_t{0});
      front = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (size < 1 || front < 0) throw CannotTranslate("its result has no elements");
    whole.push_back({.size = std::max(full, front + size)});
    has_zeros_behind = has_zeros_behind || front + size > full;
    first[d + 2] = front;
    kept.push_back({.size = size});
  }
  const bool is_bare = std::ranges::all_of(added, [](auto one) { return one == 0; });
  const bool is_inside = is_bare && !has_zeros_behind;
  const bool has_own_bias = is_inside && arguments.has(2) && arguments.is_weight(2);
  if (const auto layer = transposed_layer(arguments, x, windows, groups, added, has_own_bias)) {
    const Extents made = graph.shape(*layer);
    const bool is_whole = std::equal(made.begin() + 2, made.end(), whole.begin() + 2);
    int all = is_whole ? *layer
                       : graph.place(*layer, Integers(rank + 2, 0), Integers(rank + 2, 1), whole);
    if (arguments.has(2) && !has_own_bias) {
      all = graph.apply(addition, all, by_channel(graph, arguments.weights(2), from.size()));
    }
    return {graph.slice(all, first, Integers(rank + 2, 1), kept)};
  }
  // {groups, N·pixels, C/groups} · {groups, C/groups, O/groups·taps}
  const Extent own{.size = from[1].size / groups};
  Extents grouped = from;
  grouped[1] = own;
  grouped.insert(grouped.begin() + 1, {{.size = groups}});
  Integers order{1, 0};
  for (std::size_t d = 3; d < grouped.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(2);
  const int pixels = graph.permute(graph.reshape(x, grouped), order);
  const Extents of_pixels = graph.shape(pixels);
  const int rows = graph.reshape(
      pixels, {of_pixels[0], general::count_of({of_pixels.begin() + 1, of_pixels.end() - 1}), own});
  const int weights = graph.reshape(
      arguments.operand(1), {{.size = groups}, own, {.size = filter[1].size * windows.taps()}});
  const int products = graph.multiply(rows, weights);
  Extents divided{{.size = groups}, from[0]};
  divided.insert(divided.end(), from.begin() + 2, from.end());
  divided.push_back(filter[1]);
  divided.push_back({.size = windows.taps()});
  const int by_tap = graph.reshape(products, divided);
  const std::int64_t channel = static_cast<std::int64_t>(divided.size()) - 2;
  Integers back{1, 0, channel};
  for (std::int64_t d = 2; d < channel; ++d) back.push_back(d);
  int sum = -1;
  std::int64_t number = 0;
  for (const Integers& tap : taps_of(windows)) {
    const int one = run_of(graph, by_tap, divided.size() - 1, number++, 1);
    Extents flat(divided.begin(), divided.end() - 1);
    Extents merged{from[0], whole[1]};
    merged.insert(merged.end(), from.begin() + 2, from.end());
    const int image_of_tap = graph.reshape(graph.permute(graph.reshape(one, flat), back), merged);
    Integers starts(rank + 2, 0);
    Integers steps(rank + 2, 1);
    for (std::size_t d = 0; d < rank; ++d) {
      starts[d + 2] = tap[d] * windows.dilations[d];
      steps[d + 2] = windows.strides[d];
    }
    const int placed = graph.place(image_of_tap, starts, steps, whole);
    sum = sum < 0 ? placed : graph.apply(addition, sum, placed);
  }
  int result = graph.slice(sum, first, Integers(rank + 2, 1), kept);
  if (arguments.has(2)) {
    result = graph.apply(addition, result, by_channel(graph, arguments.weights(2), from.size()));
  }
  return {result};
}

}  // namespace

OperatorTable convolution_operators() {
  return {{"Conv", convolution}, {"ConvTranspose", transposed_convolution}};
}

}  // namespace parbench::onnx_import
