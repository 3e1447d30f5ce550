// One function an operator of images; windows are read alike for all.
#include "scenarios/models/onnx/operators/image_operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/models/layers/channels.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/padding.h"
#include "scenarios/models/layers/pooling.h"
#include "scenarios/models/layers/response_norm.h"
#include "scenarios/models/onnx/operators/image_parts.h"
#include "scenarios/models/onnx/operators/windows.h"

namespace parbench::onnx_import {
namespace {

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
  if (!is_plain)
    throw CannotMap("its input is a mean over an image, which only layers of rows can read");
  const bool has_bias = view.has_input(2);
  if (has_bias) check_bias(view, 2, weights[0]);
  importer.add(node, Linear(weights[0], has_bias), {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
  if (has_bias) importer.keep_values("bias", view.weights(2, "biases"));
  add_empty_dimensions(importer, node);
}

}  // namespace

const Shape& image_shape(const Importer& importer, int activation) {
  const Shape& shape = importer.shape_of(activation);
  if (shape.size() != 3) throw CannotMap("its input must be an image");
  return shape;
}

void check_bias(const NodeView& view, std::size_t which, std::int64_t outputs) {
  if (view.weights(which, "biases").shape != Shape{outputs}) {
    throw CannotMap("its biases are not one an output");
  }
}

/// Zeros of a Pad in front of it are its own, as far as they are alike at all edges; what is left
/// is a layer in front of it.
void map_convolution(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  int source = view.activation(0);
  if (importer.shape_of(source).size() == 1) return add_linear_of_pixel(importer, node);
  const Shape image = image_shape(importer, source);
  const Shape& weights = square_weights(view);
  const std::int64_t groups = groups_of(view, weights[1], weights[0], image[0]);
  const bool has_bias = view.has_input(2);
  if (has_bias) check_bias(view, 2, weights[0]);
  Window window = bare_window(view, weights[2]);
  Edges edges = edges_of(view, window, image);
  if (const auto* zeros = importer.kind_of<Padding>(source);
      zeros != nullptr && smallest(zeros->edges()) >= 0) {
    edges = sum(edges, zeros->edges());
    source = importer.input_of(source);
  }
  window.padding = padding_alike(edges, window);
  source = padded(importer, node, source, beyond(edges, window.padding));
  importer.add(
      node,
      Convolution(
          {.out_channels = weights[0], .window = window, .groups = groups, .bias = has_bias}),
      {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
  if (has_bias) importer.keep_values("bias", view.weights(2, "biases"));
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
  if (axes != Extents{2, 3}) throw CannotMap("only means over height and width are supported");
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
