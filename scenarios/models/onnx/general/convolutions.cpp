// Convolutions. Those with square windows become layers of their own kinds; others become products
// with the elements that each tap reads.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/general/gradient.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/general/windows.h"

namespace parbench::onnx_import {
namespace {

using general::joined;
using general::part_of;

/// Returns {N, C, …} as {groups, N·results, C/groups·taps}.
Term columns_of(Term x, const Windows& windows, std::int64_t groups) {
  const Extent own{.size = x.shape()[1].size / groups};
  std::vector<Term> parts;
  for (const Integers& tap : taps_of(windows)) {
    const Term one = read_by_tap(x, windows, tap);
    const Extents read = one.shape();
    parts.push_back(one.reshape(
        joined({{read[0], {.size = groups}, own}, part_of(read, 2, read.size()), {Extent()}})));
  }
  const Term all = general::concatenated(parts, -1);  // {N, groups, C/groups, …, taps}
  const Term ordered = all.move_axis(1, 0).move_axis(2, all.rank() - 2);
  const Extents to = ordered.shape();
  return ordered.reshape({to.front(), general::count_of(part_of(to, 1, to.size() - 2)),
                          general::count_of(part_of(to, to.size() - 2, to.size()))});
}

/// `weights`: {O, C/groups, …}.
Term convolved(Term x, Term weights, const Windows& windows, std::int64_t groups) {
  check_taps(windows);
  const Extent samples = x.shape()[0];
  const Extent channels = weights.shape()[0];
  const Extent outputs{.size = channels.size / groups};
  const Term columns = columns_of(padded(x, windows, 0), windows, groups);
  const Term matrices = weights.reshape({{.size = groups}, outputs, columns.shape().back()});
  const Term result = columns.multiply(matrices.transpose());  // {groups, N·results, O/groups}
  const Extents image = general::fixed(windows.results);
  const Term divided = result.reshape(joined({{{.size = groups}, samples}, image, {outputs}}));
  return divided.move_axis(divided.rank() - 1, 2)
      .move_axis(1, 0)
      .reshape(joined({{samples, channels}, image}));
}

/// Adds the biases, input 2.
Term biased(Arguments& arguments, Term x) {
  return arguments.has(2) ? x + along(arguments.weights(2), 1, x.rank()) : x;
}

/// The constants of a layer, by role. `shaped`: the weights in the layer's shape.
std::vector<std::pair<std::string, int>> parameters_of(const Arguments& arguments, int shaped,
                                                       bool has_bias) {
  std::vector<std::pair<std::string, int>> parameters{{"weights", shaped}};
  if (has_bias) parameters.emplace_back("bias", arguments.constant(2, "biases"));
  return parameters;
}

Outputs convolution(Arguments& arguments) {
  Term x = arguments.operand(0);
  const Extents from = x.shape();
  const Integers image = image_of(from);
  const Extents filter = arguments.shape(1);
  const std::int64_t groups = arguments.integer("group", 1);
  refuse_if(filter.size() != from.size() || groups < 1 || groups > from[1].size ||
                filter[0].size < 1 || from[1].size != filter[1].size * groups ||
                filter[0].size % groups != 0,
            fmt::format("its weights {} do not fit its input {}, in {} groups", to_string(filter),
                        to_string(from), groups));
  Integers kernel;
  for (std::size_t d = 2; d < filter.size(); ++d) kernel.push_back(filter[d].size);
  Windows windows = windows_of(arguments, image, kernel);
  const bool has_bias = arguments.has(2);
  refuse_if(has_bias && arguments.shape(2) != Extents{filter[0]},
            "its biases are not one an output");
  auto square = square_window(windows, image, false);
  if (!square) {  // zeros around the image may make the edges alike
    const Term whole = padded(x, windows, 0);
    Windows bare = windows;
    bare.front.assign(windows.rank(), 0);
    bare.back.assign(windows.rank(), 0);
    square = square_window(bare, image_of(whole.shape()), false);
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
    return {arguments.add_layer(
        std::make_shared<const Convolution>(Convolution::Options{
            .out_channels = filter[0].size, .window = *square, .groups = groups, .bias = has_bias}),
        {x}, parameters_of(arguments, shaped, has_bias), weights)};
  }
  return {biased(arguments, convolved(x, arguments.operand(1), windows, groups))};
}

/// Returns a transposed convolution with square windows as a layer; nothing for others.
std::optional<Term> transposed_layer(Arguments& arguments, Term x, const Windows& windows,
                                     std::int64_t groups, const Integers& added, bool has_bias) {
  const auto alike = [](const Integers& values) {
    return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
  };
  const bool is_square = windows.rank() == 2 && alike(windows.kernel) && alike(windows.strides) &&
                         alike(windows.dilations);
  if (!is_square || !arguments.is_network() || !starts_with_samples(x.shape()) ||
      !arguments.is_weight(1)) {
    return std::nullopt;
  }
  const bool has_added = alike(added) && added.front() < windows.strides.front();
  const int weights = arguments.constant(1, "weights");
  return arguments.add_layer(
      std::make_shared<const TransposedConvolution>(
          TransposedConvolution::Options{.out_channels = arguments.shape(1)[1].size * groups,
                                         .window = {.kernel = windows.kernel[0],
                                                    .stride = windows.strides[0],
                                                    .dilation = windows.dilations[0]},
                                         .output_padding = has_added ? added.front() : 0,
                                         .groups = groups,
                                         .bias = has_bias}),
      {x}, parameters_of(arguments, weights, has_bias), weights);
}

/// Returns the gradient of a convolution whose results have the shape of `x` with respect to its
/// input, {N, O, …} of that image. `weights`: {C, O/groups, …}.
Term convolved_backward(Term x, Term weights, const Windows& windows, std::int64_t groups,
                        const Extents& to) {
  general::Graph& graph = *x.graph;
  const Term input = Term{&graph, graph.number(0, to)}.detached();  // stands for any values
  const Term output = convolved(input, weights, windows, groups);
  return {&graph, general::add_gradients(graph, output, x, {input}).at(input)};
}

Outputs transposed_convolution(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
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
  refuse_if(windows.rank() != rank || from[1] != filter[0] || groups < 1 || groups > from[1].size ||
                filter[0].size % groups != 0,
            fmt::format("its weights {} in {} groups do not fit its input {}", to_string(filter),
                        groups, to_string(from)));
  check_kernel(windows.kernel);
  check_taps(windows);
  const Integers pads = of_rank(arguments, "pads", 2 * rank, 0);
  const Integers added = of_rank(arguments, "output_padding", rank, 0);
  const Integers wanted = arguments.integer_list("output_shape", {});
  refuse_if(!wanted.empty() && wanted.size() < rank, "its output_shape does not fit its input");
  const std::string automatic = arguments.text("auto_pad", "NOTSET");
  Extents whole{from[0], {.size = filter[1].size * groups}};
  Integers first(rank + 2, 0);
  Extents kept = whole;
  bool has_zeros_after = false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t full = (image[d] - 1) * windows.strides[d] + windows.reach(d) + added[d];
    std::int64_t front = pads[d];
    std::int64_t size = full - pads[d] - pads[rank + d];
    if (!wanted.empty() || automatic.starts_with("SAME")) {
      size = wanted.empty() ? image[d] * windows.strides[d] : wanted[wanted.size() - rank + d];
      const std::int64_t total = std::max(full - size, std::int64_t{0});
      front = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    refuse_if(size < 1 || front < 0, "its result has no elements");
    whole.push_back({.size = std::max(full, front + size)});
    has_zeros_after = has_zeros_after || front + size > full;
    first[d + 2] = front;
    windows.front.push_back(front);
    kept.push_back({.size = size});
  }
  const bool is_bare = std::ranges::all_of(added, [](auto one) { return one == 0; });
  const bool is_inside = is_bare && !has_zeros_after;
  const bool has_own_bias = is_inside && arguments.has(2) && arguments.is_weight(2);
  const Integers steps(rank + 2, 1);
  if (const auto layer = transposed_layer(arguments, x, windows, groups, added, has_own_bias)) {
    const Extents made = layer->shape();
    const bool is_whole = std::equal(made.begin() + 2, made.end(), whole.begin() + 2);
    const Term all = is_whole ? *layer : layer->place(Integers(rank + 2, 0), whole);
    const Term result = has_own_bias ? all : biased(arguments, all);
    return {x.graph->slice(result, first, steps, kept)};
  }
  return {biased(arguments, convolved_backward(x, arguments.operand(1), windows, groups, kept))};
}

}  // namespace

OperatorTable convolution_operators() {
  return {{"Conv", convolution}, {"ConvTranspose", transposed_convolution}};
}

}  // namespace parbench::onnx_import
