// ConvTranspose: what its windows reach, then parts of that or zeros around it, then its biases.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/models/layers/channel_bias.h"
#include "scenarios/models/layers/transposed_convolution.h"
#include "scenarios/models/onnx/operators/image_operators.h"
#include "scenarios/models/onnx/operators/image_parts.h"
#include "scenarios/models/onnx/operators/windows.h"

namespace parbench::onnx_import {
namespace {

Extents extents(const NodeView& view, const char* name, std::size_t count) {
  Extents values = view.attribute(name, Extents());
  if (values.empty()) values.resize(count);
  const bool fits = values.size() == count && std::ranges::all_of(values, [](std::int64_t one) {
                      return one >= 0 && one <= max_window;
                    });
  if (!fits) throw CannotMap(fmt::format("its {} are not those of an image", name));
  return values;
}

/// The height and width that a node asks for; empty where its padding says them.
Extents wanted_extents(const NodeView& view, const Window& window, const Shape& image) {
  Extents wanted = view.attribute("output_shape", Extents());
  if (wanted.size() > 2) wanted.erase(wanted.begin(), wanted.end() - 2);
  if (wanted.empty() && is_same_padding(automatic_padding(view))) {
    return {image[1] * window.stride, image[2] * window.stride};
  }
  const bool fits = wanted.size() != 1 && std::ranges::all_of(wanted, [](std::int64_t one) {
                      return one >= 1 && one <= max_window;
                    });
  if (!fits) throw CannotMap("its output_shape is not that of an image");
  return wanted;
}

/// How many rows and columns of what the windows reach are no part of the output; of negative
/// numbers the output has zeros beyond it.
Edges left_out(const NodeView& view, const Window& window, const Shape& image) {
  const Extents added = extents(view, "output_padding", 2);
  const std::string automatic = automatic_padding(view);
  Extents ends = automatic == "NOTSET" ? extents(view, "pads", 4) : Extents(4);
  const Extents wanted = wanted_extents(view, window, image);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t all =
        (image[1 + i] - 1) * window.stride + window.extent() + added[i] - wanted[i];
    if (all < 0) throw CannotMap("its output is larger than its windows reach");
    ends[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    ends[2 + i] = all - ends[i];
  }
  return {
      .top = ends[0], .left = ends[1], .bottom = ends[2] - added[0], .right = ends[3] - added[1]};
}

/// Whether the padding of a layer says them all.
bool is_padding_of(const Edges& edges, const Window& window) {
  return edges.top == edges.left && edges.bottom == edges.right && edges.top < window.extent() &&
         edges.top >= edges.bottom && edges.top - edges.bottom < window.stride;
}

}  // namespace

void map_transposed_convolution(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Shape image = image_shape(importer, source);
  const Shape& weights = square_weights(view);
  const auto groups = view.attribute("group", std::int64_t{1});
  if (weights[0] != image[0] || groups <= 0 || groups > image[0] || image[0] % groups != 0) {
    throw CannotMap(
        fmt::format("its weights are for {} channels in {} groups, and its input has {}",
                    weights[0], groups, image[0]));
  }
  const std::int64_t outputs = weights[1] * groups;
  if (view.has_input(2)) check_bias(view, 2, outputs);
  Window window = bare_window(view, weights[2]);
  const Edges edges = left_out(view, window, image);
  const bool is_padding = is_padding_of(edges, window);
  window.padding = is_padding ? edges.top : padding_alike(edges, window);
  const Edges rest = is_padding ? Edges() : beyond(edges, window.padding).reversed();
  const bool adds_zeros = smallest(rest.reversed()) < 0;  // which get the bias too
  const bool has_bias = view.has_input(2) && !adds_zeros;
  const int layer = importer.add(
      node,
      TransposedConvolution({.out_channels = outputs,
                             .window = window,
                             .output_padding = is_padding ? edges.top - edges.bottom : 0,
                             .groups = groups,
                             .bias = has_bias}),
      {source}, view.input(1));
  importer.keep_values("weights", view.weights(1, "weights"));
  if (has_bias) importer.keep_values("bias", view.weights(2, "biases"));
  const int made = padded(importer, node, layer, rest);
  if (!view.has_input(2) || has_bias) return;
  importer.add(node, ChannelBias(), {made}, view.input(2));
  importer.keep_values("bias", view.weights(2, "biases"));
}

}  // namespace parbench::onnx_import
