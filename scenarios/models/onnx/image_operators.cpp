// One function an operator of images; windows are read alike for all.
#include "scenarios/models/onnx/image_operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/models/layers/channels.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/pooling.h"
#include "scenarios/models/layers/response_norm.h"
#include "scenarios/models/layers/transposed_convolution.h"

namespace parbench::onnx_import {
namespace {

using Extents = std::vector<std::int64_t>;

/// The value that all numbers of a list have; the fallback for an empty one.
std::int64_t same(const Extents& values, std::int64_t fallback, std::string_view what) {
  if (values.empty()) return fallback;
  if (std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end()) {
    throw CannotMap(fmt::format("its {} differ: {}", what, fmt::join(values, ", ")));
  }
  return values.front();
}

/// Of kernels, strides and the like, far above any image.
constexpr std::int64_t max_window = 1 << 20;

void check_extent(std::int64_t extent) {
  if (extent <= 0) throw CannotMap("its window is empty");
  if (extent > max_window) throw CannotMap("its window is larger than any image");
}

/// What an image has to be padded by, at both ends together, for as many positions as it has at
/// stride 1.
std::int64_t same_padding(const Window& window, std::int64_t extent) {
  const std::int64_t positions = (extent + window.stride - 1) / window.stride;
  return std::max<std::int64_t>(0, (positions - 1) * window.stride + window.extent() - extent);
}

/// Of the odd one, SAME_LOWER has one more in front, which no layer has.
void pad_automatically(Window& window, const Shape& image, bool more_in_front) {
  const std::int64_t padding =
      same({same_padding(window, image[1]), same_padding(window, image[2])}, 0, "paddings");
  if (more_in_front && padding % 2 != 0) {
    throw CannotMap("its automatic padding is larger in front of the image");
  }
  window.padding = padding / 2;
  window.trailing = padding % 2;
}

/// `paddings`: above, on the left, below, on the right.
void pad(Window& window, const Extents& paddings) {
  if (paddings.empty()) return;
  if (paddings.size() != 4) throw CannotMap("its paddings are not those of four edges");
  window.padding = same({paddings[0], paddings[1]}, 0, "paddings");
  const std::int64_t behind = same({paddings[2], paddings[3]}, 0, "paddings");
  for (const std::int64_t one : {window.padding, behind}) {
    if (one >= 0 && one < window.extent()) continue;
    throw CannotMap(fmt::format("its padding {} does not fit its window", one));
  }
  window.trailing = behind - window.padding;
  if (window.trailing < 0) throw CannotMap("its padding is larger in front of the image");
}

Window window_of(const NodeView& view, const Shape& image, std::int64_t kernel) {
  Window window{.kernel = kernel,
                .stride = same(view.attribute("strides", Extents()), 1, "strides"),
                .dilation = same(view.attribute("dilations", Extents()), 1, "dilations")};
  for (const std::int64_t extent : {window.kernel, window.stride, window.dilation}) {
    check_extent(extent);
  }
  check_extent(window.extent());
  const std::string automatic = view.attribute("auto_pad", std::string("NOTSET"));
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_automatically(window, image, automatic == "SAME_LOWER");
  } else if (automatic == "NOTSET") {
    pad(window, view.attribute("pads", Extents()));
  }
  return window;
}

/// That of a convolution is padded alike at both ends.
Window symmetric_window(const NodeView& view, const Shape& image, std::int64_t kernel) {
  const Window window = window_of(view, image, kernel);
  if (window.trailing == 0) return window;
  throw CannotMap(fmt::format("its padding differs between the ends of the image: {} and {}",
                              window.padding, window.padding + window.trailing));
}

/// As many positions as begin in the image or in the padding in front of it.
std::int64_t positions_rounded_up(const Window& window, std::int64_t extent) {
  const std::int64_t room = extent + 2 * window.padding + window.trailing - window.kernel;
  if (room < 0) return 1;
  const std::int64_t positions = (room + window.stride - 1) / window.stride + 1;
  const bool begins_inside = (positions - 1) * window.stride < extent + window.padding;
  return begins_inside ? positions : positions - 1;
}

/// ceil_mode: the last windows reach over the edge, as if more padding were there.
void round_up(Window& window, const Shape& image) {
  const auto trailing_of = [&](std::int64_t extent) {
    const std::int64_t positions = positions_rounded_up(window, extent);
    return (positions - 1) * window.stride + window.kernel - extent - 2 * window.padding;
  };
  Window rounded = window;
  rounded.trailing = std::max({window.trailing, trailing_of(image[1]), trailing_of(image[2])});
  for (const std::int64_t extent : {image[1], image[2]}) {
    if (rounded.positions(extent) == positions_rounded_up(window, extent)) continue;
    throw CannotMap("its last windows reach over the edges by different numbers of pixels");
  }
  window = rounded;
}

Window pooling_window(const NodeView& view, const Shape& image) {
  const std::int64_t kernel = same(view.attribute("kernel_shape", Extents()), 0, "window's sides");
  Window window = window_of(view, image, kernel);
  if (window.dilation != 1) throw CannotMap("its window is dilated");
  if (view.attribute("ceil_mode", std::int64_t{0}) != 0) round_up(window, image);
  return window;
}

const Shape& square_weights(const NodeView& view) {
  const Shape& shape = view.weights(1, "weights").shape;
  if (shape.size() != 4 || shape[2] != shape[3]) {
    throw CannotMap("its weights are not those of square windows");
  }
  return shape;
}

/// `channels`: what the weights are for. `divided`: what the groups divide, too.
std::int64_t groups_of(const NodeView& view, std::int64_t channels_of_group, std::int64_t divided,
                       std::int64_t channels) {
  const auto groups = view.attribute("group", std::int64_t{1});
  if (groups > 0 && groups <= divided && channels_of_group * groups == channels &&
      divided % groups == 0) {
    return groups;
  }
  throw CannotMap(fmt::format("its weights are for {} channels in {} groups, and its input has {}",
                              channels_of_group, groups, channels));
}

/// The height and width of one that a file has behind a mean over the image.
void add_empty_dimensions(Importer& importer, const Node& node) {
  View view = *importer.find_view(node.outputs.at(0));
  view.dimensions.resize(4);
  importer.set_view(node.outputs.at(0), std::move(view));
}

void add_global_mean(Importer& importer, const Node& node, bool keeps_dimensions) {
  const int source = NodeView(importer, node).activation(0);
  (void)image_shape(importer, source);
  importer.add(node, GlobalAveragePool(), {source});
  if (keeps_dimensions) add_empty_dimensions(importer, node);
}

/// A convolution of one pixel behind a mean over the image, whose result has no height and width
/// here, is a linear layer.
void add_linear_of_pixel(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& weights = square_weights(view);
  const bool is_plain = weights[2] == 1 && view.attribute("group", std::int64_t{1}) == 1 &&
                        weights[1] == importer.shape_of(source).front();
  if (!is_plain || !view.has_input(2)) {
    throw CannotMap("its input is a mean over an image, and it is no layer of rows and a bias");
  }
  check_bias(view, 2, weights[0]);
  importer.add(node, Linear(weights[0]), {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
  importer.keep_values("bias", view.weights(2, "biases"));
  add_empty_dimensions(importer, node);
}

}  // namespace

const Shape& image_shape(const Importer& importer, int activation) {
  const Shape& shape = importer.shape_of(activation);
  if (shape.size() != 3) throw CannotMap("its input is no image");
  return shape;
}

void check_bias(const NodeView& view, std::size_t which, std::int64_t outputs) {
  if (view.weights(which, "biases").shape != Shape{outputs}) {
    throw CannotMap("its biases are not one an output");
  }
}

void map_convolution(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  if (importer.shape_of(source).size() == 1) return add_linear_of_pixel(importer, node);
  const Shape& image = image_shape(importer, source);
  const Shape& weights = square_weights(view);
  const std::int64_t groups = groups_of(view, weights[1], weights[0], image[0]);
  const bool has_bias = view.has_input(2);
  if (has_bias) check_bias(view, 2, weights[0]);
  importer.add(node,
               Convolution({.out_channels = weights[0],
                            .window = symmetric_window(view, image, weights[2]),
                            .groups = groups,
                            .bias = has_bias}),
               {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
  if (has_bias) importer.keep_values("bias", view.weights(2, "biases"));
}

void map_transposed_convolution(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& image = image_shape(importer, source);
  const Shape& weights = square_weights(view);
  if (view.has_input(2)) throw CannotMap("it has a bias");
  if (!view.attribute("output_shape", Extents()).empty() ||
      view.attribute("auto_pad", std::string("NOTSET")) != "NOTSET") {
    throw CannotMap("its padding follows from its output");
  }
  const auto groups = view.attribute("group", std::int64_t{1});
  if (weights[0] != image[0] || groups <= 0 || groups > image[0] || image[0] % groups != 0) {
    throw CannotMap(
        fmt::format("its weights are for {} channels in {} groups, and its input has {}",
                    weights[0], groups, image[0]));
  }
  importer.add(
      node,
      TransposedConvolution({.out_channels = weights[1] * groups,
                             .window = symmetric_window(view, image, weights[2]),
                             .output_padding = same(view.attribute("output_padding", Extents()), 0,
                                                    "output paddings"),
                             .groups = groups}),
      {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
}

void map_max_pool(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  importer.add(node, MaxPool(pooling_window(view, image_shape(importer, source))), {source});
}

void map_global_average_pool(Importer& importer, const Node& node) {
  add_global_mean(importer, node, true);
}

/// One that covers the image is a global one.
void map_average_pool(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape& image = image_shape(importer, source);
  const Window window = pooling_window(view, image);
  const bool counts = view.attribute("count_include_pad", std::int64_t{0}) != 0;
  const bool is_padded = window.padding > 0 || window.trailing > 0;
  if (counts && is_padded && view.attribute("ceil_mode", std::int64_t{0}) != 0) {
    throw CannotMap("it counts padding, and its last windows may reach over the edge (ceil_mode)");
  }
  const bool covers = window.kernel - window.padding >= std::max(image[1], image[2]) &&
                      window.output(image[0], image) == Shape{image[0], 1, 1};
  if (covers && !(counts && is_padded)) return add_global_mean(importer, node, true);
  importer.add(node, AveragePool(window, counts), {source});
}

void map_mean(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Extents axes = view.integers("axes", 1);
  for (std::int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::ranges::sort(axes);
  if (axes != Extents{2, 3}) throw CannotMap("it is no mean over height and width");
  add_global_mean(importer, node, view.attribute("keepdims", std::int64_t{1}) != 0);
}

void map_response_norm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  (void)image_shape(importer, source);
  importer.add(node,
               LocalResponseNorm({.size = view.attribute("size", std::int64_t{0}),
                                  .alpha = static_cast<float>(view.attribute("alpha", 1e-4)),
                                  .beta = static_cast<float>(view.attribute("beta", 0.75)),
                                  .offset = static_cast<float>(view.attribute("bias", 1.0))}),
               {source});
}

void map_concatenation(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  std::vector<int> sources;
  for (std::size_t which = 0; which < node.inputs.size(); ++which) {
    sources.push_back(view.activation(which));
    (void)image_shape(importer, sources.back());
  }
  constexpr std::int64_t rank = 4;
  const auto axis = view.attribute("axis", std::int64_t{0});
  if (axis != 1 && axis != 1 - rank) {
    throw CannotMap(fmt::format("its axis is {}, not that of the channels", axis));
  }
  if (sources.size() == 1) return importer.alias(node, sources.front());
  importer.add(node, Concatenation(), sources);
}

}  // namespace parbench::onnx_import
