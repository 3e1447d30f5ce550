// Operators with windows that move over one, two or three dimensions: convolutions and poolings.
// Square windows become layers; other windows are computed from slices of the padded input, one for
// each position (tap) in the window.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/general/gradient.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/window.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::joined;
using general::part_of;

/// Parameters of windows, by dimension after the channels.
struct Windows {
  Integers kernel;
  Integers strides;
  Integers dilations;
  Integers front = {};  // padding before the image
  Integers back = {};
  Integers results = {};  // number of positions of the window

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  [[nodiscard]] std::int64_t reach(std::size_t d) const {
    return (kernel[d] - 1) * dilations[d] + 1;
  }
  [[nodiscard]] std::int64_t taps() const {
    std::int64_t count = 1;
    for (const std::int64_t side : kernel) count = std::min(count, max_extent) * side;
    return count;
  }
};

/// Returns a list from an attribute; if it is omitted, every element is `fallback`.
Integers of_rank(const Arguments& arguments, std::string_view name, std::size_t rank,
                 std::int64_t fallback) {
  Integers values = arguments.integer_list(name, Integers(rank, fallback));
  refuse_if(values.size() != rank || std::ranges::any_of(values, [](auto one) { return one < 0; }),
            fmt::format("its {} do not fit its input", name));
  refuse_if(std::ranges::any_of(values, [](auto one) { return one > max_extent; }),
            fmt::format("its {} are larger than any image", name));
  return values;
}

void check_kernel(const Integers& kernel) {
  const auto is_side = [](std::int64_t side) { return side >= 1 && side <= max_extent; };
  refuse_if(!std::ranges::all_of(kernel, is_side), "its window is empty, or larger than any image");
}

Windows windows_of(const Arguments& arguments, const Integers& image, Integers kernel) {
  const std::size_t rank = image.size();
  Windows windows{.kernel = std::move(kernel),
                  .strides = of_rank(arguments, "strides", rank, 1),
                  .dilations = of_rank(arguments, "dilations", rank, 1),
                  .front = Integers(rank, 0),
                  .back = Integers(rank, 0),
                  .results = Integers(rank, 0)};
  refuse_if(windows.kernel.size() != rank, "its kernel does not fit its input");
  check_kernel(windows.kernel);
  const Integers pads = of_rank(arguments, "pads", 2 * rank, 0);
  const std::string automatic = arguments.text("auto_pad", "NOTSET");
  const bool is_same = automatic.starts_with("SAME");
  for (std::size_t d = 0; d < rank; ++d) {
    refuse_if(windows.strides[d] < 1, "it has a stride of 0");
    if (automatic == "NOTSET" || automatic.empty()) {
      windows.front[d] = pads[d];
      windows.back[d] = pads[rank + d];
    } else if (is_same) {
      const std::int64_t count = (image[d] + windows.strides[d] - 1) / windows.strides[d];
      const std::int64_t needed = (count - 1) * windows.strides[d] + windows.reach(d) - image[d];
      const std::int64_t total = std::max(needed, std::int64_t{0});
      windows.front[d] = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
      windows.back[d] = total - windows.front[d];
    }
    const bool rounds_up = arguments.flag("ceil_mode", false);
    const std::int64_t room = image[d] + windows.front[d] + windows.back[d] - windows.reach(d);
    refuse_if(room < 0 && !rounds_up, "its window is larger than its input");
    windows.results[d] = room < 0 ? 1 : room / windows.strides[d] + 1;
    if (room > 0 && rounds_up && room % windows.strides[d] != 0) {
      const std::int64_t start = windows.results[d] * windows.strides[d];
      if (start < image[d] + windows.front[d]) ++windows.results[d];
    }
  }
  return windows;
}

/// Returns the extents of the dimensions after the channels.
Integers image_of(const Extents& shape) {
  refuse_if(shape.size() < 3, "its input has no dimensions to move over");
  Integers image;
  for (std::size_t d = 2; d < shape.size(); ++d) {
    refuse_if(shape[d].samples, "windows over the batch dimension are not supported");
    refuse_if(shape[d].size > max_extent, "its input is larger than any image");
    image.push_back(shape[d].size);
  }
  return image;
}

/// Returns windows as the Window of a layer; nothing if they are not square, or if layers do not
/// support them. `has_trailing`: for poolings, which support trailing padding, but no dilation and
/// no padding as large as the window.
std::optional<Window> square_window(const Windows& windows, const Integers& image,
                                    bool has_trailing) {
  const auto alike = [](const Integers& values) { return values[0] == values[1]; };
  if (windows.rank() != 2 || !alike(windows.kernel) || !alike(windows.strides) ||
      !alike(windows.dilations) || !alike(windows.front)) {
    return std::nullopt;
  }
  Window window{.kernel = windows.kernel[0],
                .stride = windows.strides[0],
                .padding = windows.front[0],
                .dilation = windows.dilations[0]};
  if (has_trailing && window.dilation > 1) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t needed =
        (windows.results[d] - 1) * window.stride + windows.reach(d) - image[d] - window.padding;
    window.trailing = std::max(window.trailing, needed - window.padding);
  }
  if (window.trailing > 0 && !has_trailing) return std::nullopt;
  if (window.padding >= window.kernel && has_trailing) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d) {
    if (window.positions(image[d]) != windows.results[d]) return std::nullopt;
  }
  return window;
}

// --- taps ---

/// Returns the input with the padding that windows read.
Term padded(Term x, const Windows& windows, float value) {
  Extents to = x.shape();
  Integers starts(to.size(), 0);
  for (std::size_t d = 0; d < windows.rank(); ++d) {
    starts[d + 2] = windows.front[d];
    const std::int64_t read = (windows.results[d] - 1) * windows.strides[d] + windows.reach(d);
    to[d + 2].size = std::max(read, windows.front[d] + to[d + 2].size);
  }
  return x.place(starts, to, value);
}

/// Returns the positions in a window, with the last dimension fastest.
std::vector<Integers> taps_of(const Windows& windows) {
  std::vector<Integers> taps;
  Integers at(windows.rank(), 0);
  for (std::int64_t i = 0; i < windows.taps(); ++i) {
    taps.push_back(at);
    for (std::size_t d = windows.rank(); d-- > 0;) {
      if (++at[d] < windows.kernel[d]) break;
      at[d] = 0;
    }
  }
  return taps;
}

/// Returns the elements that a tap reads, for all windows.
Term read_by_tap(Term x, const Windows& windows, const Integers& tap) {
  Extents to = x.shape();
  Integers starts(to.size(), 0);
  Integers steps(to.size(), 1);
  for (std::size_t d = 0; d < windows.rank(); ++d) {
    starts[d + 2] = tap[d] * windows.dilations[d];
    steps[d + 2] = windows.strides[d];
    to[d + 2] = {.size = windows.results[d]};
  }
  return {x.graph, x.graph->slice(x, starts, steps, to)};
}

/// Throws CannotTranslate for windows with too many taps to compute each separately.
void check_taps(const Windows& windows) {
  constexpr std::int64_t max_taps = 1024;
  refuse_if(windows.taps() > max_taps, fmt::format("its window has more than {} taps", max_taps));
}

/// Combines the elements that the taps of each window read, by `op`.
Term over_taps(Term x, const Windows& windows, ElementOp op) {
  check_taps(windows);
  const std::vector<Integers> taps = taps_of(windows);
  Term result = read_by_tap(x, windows, taps.front());
  for (std::size_t i = 1; i < taps.size(); ++i) {
    result = result.apply(op, read_by_tap(x, windows, taps[i]));
  }
  return result;
}

// --- convolutions ---

/// Returns the elements that the windows read (im2col): {groups, N·results, (C/groups)·taps}.
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

/// Returns a convolution, composed of general operations. `weights`: {O, C/groups, …}.
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

/// Adds the biases, input 2, if there are any.
Term biased(Arguments& arguments, Term x) {
  return arguments.has(2) ? x + along(arguments.weights(2), 1, x.rank()) : x;
}

/// Returns the constants of a layer, by role. `shaped`: the weights in the shape of the layer.
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
            fmt::format("its weights {} do not match its input {} and {} groups", to_string(filter),
                        to_string(from), groups));
  Windows windows =
      windows_of(arguments, image, general::shape_at(part_of(filter, 2, filter.size()), 1));
  const bool has_bias = arguments.has(2);
  refuse_if(has_bias && arguments.shape(2) != Extents{filter[0]},
            "its biases must have one value per output channel");
  auto square = square_window(windows, image, false);
  if (!square) {  // with separate padding, the window may be square
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

/// Returns a transposed convolution with square windows as a layer; nothing for other windows.
/// `added`: output_padding of the node.
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

/// Returns a transposed convolution, composed of general operations: the gradient of a convolution
/// with respect to the convolution's input, of shape `to` {N, O, …}, if `x` is the gradient of the
/// result. `weights`: {C, O/groups, …}.
Term convolved_backward(Term x, Term weights, const Windows& windows, std::int64_t groups,
                        const Extents& to) {
  general::Graph& graph = *x.graph;
  const Term input = Term{&graph, graph.number(0, to)}.detached();  // its values do not matter
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
                  .results = image};
  for (std::size_t d = 2; d < filter.size(); ++d) windows.kernel.push_back(filter[d].size);
  refuse_if(windows.rank() != rank || from[1] != filter[0] || groups < 1 || groups > from[1].size ||
                filter[0].size % groups != 0,
            fmt::format("its weights {} and {} groups do not match its input {}", to_string(filter),
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

// --- poolings ---

struct Pooling {
  explicit Pooling(Arguments& arguments)
      : x(arguments.operand(0)),
        image(image_of(x.shape())),
        windows(windows_of(arguments, image, arguments.integer_list("kernel_shape", {}))),
        axes(general::axes_between(2, x.rank())) {
    if (arguments.is_network() && starts_with_samples(x.shape())) {
      layer_window = square_window(windows, image, true);
    }
  }

  /// Returns whether one window without dilation covers the whole image, and possibly more.
  [[nodiscard]] bool covers() const {
    for (std::size_t d = 0; d < windows.rank(); ++d) {
      if (windows.results[d] != 1 || windows.dilations[d] != 1 ||
          windows.kernel[d] < windows.front[d] + image[d]) {
        return false;
      }
    }
    return true;
  }

  Term x;
  Integers image;
  Windows windows;
  general::Axes axes;                  // dimensions of the image
  std::optional<Window> layer_window;  // window of a layer, if layers support it
};

Outputs max_pool(Arguments& arguments) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const Pooling of(arguments);
  const std::vector<std::string>& outputs = arguments.node().outputs;
  refuse_if(outputs.size() > 1 && !outputs[1].empty(),
            "the indices of maxima (its second output) are not supported");
  if (of.covers() && of.windows.kernel != of.image) {
    return {of.x.reduce(Reduction::maximum, of.axes)};
  }
  if (of.layer_window) {
    return {arguments.add_layer(std::make_shared<const MaxPool>(*of.layer_window), {of.x})};
  }
  return {over_taps(padded(of.x, of.windows, lowest), of.windows, ElementOp::maximum)};
}

Outputs average_pool(Arguments& arguments) {
  const Pooling of(arguments);
  const Windows& windows = of.windows;
  const bool counts = arguments.flag("count_include_pad", false);
  const bool rounds_up = arguments.flag("ceil_mode", false);
  const auto is_positive = [](std::int64_t one) { return one > 0; };
  const bool has_zeros = std::ranges::any_of(windows.front, is_positive) ||
                         std::ranges::any_of(windows.back, is_positive);
  if (of.covers() && !(counts && has_zeros)) return {of.x.mean(of.axes)};
  if (of.layer_window && !(counts && rounds_up)) {
    return {
        arguments.add_layer(std::make_shared<const AveragePool>(*of.layer_window, counts), {of.x})};
  }
  const Term sum = over_taps(padded(of.x, windows, 0), windows, ElementOp::addition);
  if (!has_zeros && !rounds_up) return {sum * (1 / static_cast<float>(windows.taps()))};
  Extents one = of.x.shape();
  one[0] = {};
  one[1] = {};
  // windows over a tensor of ones, which includes the padding if padding counts
  Windows inside = windows;
  for (std::size_t d = 0; counts && d < windows.rank(); ++d) {
    one[d + 2].size += windows.front[d] + windows.back[d];
    inside.front[d] = 0;
  }
  return {sum /
          over_taps(padded(arguments.filled(1, one), inside, 0), inside, ElementOp::addition)};
}

Outputs lp_pool(Arguments& arguments) {
  const Pooling of(arguments);
  const auto order = static_cast<float>(arguments.integer("p", 2));
  const Term powers = padded(of.x.abs().power(order), of.windows, 0);
  return {over_taps(powers, of.windows, ElementOp::addition).power(1 / order)};
}

}  // namespace

OperatorTable window_operators() {
  return {{"AveragePool", average_pool},
          {"Conv", convolution},
          {"ConvTranspose", transposed_convolution},
          {"LpPool", lp_pool},
          {"MaxPool", max_pool}};
}

}  // namespace parbench::onnx_import
