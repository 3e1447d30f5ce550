// Fuses operations that move channels and pixels, and means of images, to layers that support the
// device's layout of images.
#include <algorithm>
#include <cmath>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/fusions/fusing.h"
#include "scenarios/models/onnx/general/indexing.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Operation;
using general::OpKind;

constexpr std::size_t image_rank = 4;  // samples, channels, height, width

/// Returns whether a tensor contains images that layers exchange.
bool is_image(const Fusing& fusing, int index) {
  const Extents& shape = fusing.shape(index);
  return fusing.is_exchanged(index) && shape.size() == image_rank && starts_with_samples(shape);
}

std::optional<int> joined(Fusing& fusing, const Operation& operation) {
  const bool are_images =
      operation.axes.front() == 1 &&
      std::ranges::all_of(operation.inputs, [&](int input) { return is_image(fusing, input); });
  if (!are_images) return std::nullopt;
  return fusing.add_layer(std::make_shared<const Concatenation>(), operation.inputs);
}

/// Returns whether a slice or placement of images has steps of 1 and keeps the samples.
bool moves_pixels(const Fusing& fusing, const Operation& operation) {
  return is_image(fusing, operation.inputs.front()) &&
         fusing.shape(operation.inputs.front())[0] == operation.shape[0] &&
         std::ranges::all_of(operation.steps, [](std::int64_t step) { return step == 1; });
}

/// Replaces a placement by padding with zeros, and a slice by negative padding.
std::optional<int> padded(Fusing& fusing, const Operation& operation) {
  if (!moves_pixels(fusing, operation)) return std::nullopt;
  const int x = operation.inputs.front();
  const Extents& from = fusing.shape(x);
  if (from[1] != operation.shape[1]) return std::nullopt;
  const auto before = [&](std::size_t d) {
    return operation.kind == OpKind::slice ? -operation.starts[d] : operation.starts[d];
  };
  const auto after = [&](std::size_t d) {
    return operation.shape[d].size - from[d].size - before(d);
  };
  const Edges edges{.top = before(2), .left = before(3), .bottom = after(2), .right = after(3)};
  return fusing.add_layer(std::make_shared<const Padding>(edges), {x});
}

/// Replaces a slice by a slice of channels and a slice of rows and columns, as far as needed.
std::optional<int> sliced(Fusing& fusing, const Operation& operation) {
  if (const auto made = padded(fusing, operation)) return made;
  if (!moves_pixels(fusing, operation)) return std::nullopt;
  const int channels = fusing.add_layer(
      std::make_shared<const ChannelSlice>(operation.starts[1], operation.shape[1].size),
      operation.inputs);
  Operation rest = operation;
  rest.inputs = {channels};
  rest.starts[1] = 0;
  const bool is_all = rest.shape == fusing.shape(channels);
  return is_all ? channels : padded(fusing, rest);
}

/// Fuses a channel shuffle: {N, g·c, H, W} as {N, g, c, …}, permuted to {N, c, g, …}, as {N, c·g,
/// H, W}.
std::optional<int> shuffled(Fusing& fusing, const Operation& last) {
  const Operation& turned = fusing.at(last.inputs.front());
  if (turned.kind != OpKind::permutation) return std::nullopt;
  const Operation& divided = fusing.at(turned.inputs.front());
  if (divided.kind != OpKind::reshape || !is_image(fusing, divided.inputs.front())) {
    return std::nullopt;
  }
  const int x = divided.inputs.front();
  general::Axes order = general::axes_between(0, divided.shape.size());
  if (order.size() < 4) return std::nullopt;
  std::swap(order[1], order[2]);
  const std::int64_t groups = divided.shape[1].size;
  const bool fits = turned.axes == order && fusing.shape(x) == last.shape &&
                    divided.shape[0] == last.shape[0] &&
                    groups * divided.shape[2].size == last.shape[1].size;
  if (!fits) return std::nullopt;
  return fusing.add_layer(std::make_shared<const ChannelShuffle>(groups), {x});
}

std::optional<int> flattened(Fusing& fusing, const Operation& operation) {
  const int x = operation.inputs.front();
  const bool fits =
      is_image(fusing, x) && operation.shape.size() == 2 && starts_with_samples(operation.shape);
  if (!fits) return std::nullopt;
  return fusing.add_layer(std::make_shared<const Flatten>(), {x});
}

}  // namespace

std::optional<int> fused_channel_movement(Fusing& fusing, int index) {
  const Operation operation = fusing.at(index);
  switch (operation.kind) {
    case OpKind::concatenation:
      return joined(fusing, operation);
    case OpKind::slice:
      return sliced(fusing, operation);
    case OpKind::placement:
      return padded(fusing, operation);
    case OpKind::reshape:
      if (const auto made = shuffled(fusing, operation)) return made;
      return flattened(fusing, operation);
    default:
      return std::nullopt;
  }
}

namespace {

/// Merges equal padding at all edges into the convolution that reads it.
std::optional<int> padded_convolution(Fusing& fusing, int index) {
  const auto* convolution = fusing.kind_of<Convolution>(index);
  const int zeros = convolution == nullptr ? -1 : fusing.at(index).inputs.front();
  const auto* padding = zeros < 0 ? nullptr : fusing.kind_of<Padding>(zeros);
  if (padding == nullptr) return std::nullopt;
  const Edges edges = padding->edges();
  const bool are_alike =
      edges.top == edges.left && edges.top == edges.bottom && edges.top == edges.right;
  if (!are_alike || edges.top < 0) return std::nullopt;
  Convolution::Options options = convolution->options();
  options.window.padding += edges.top;
  return fusing.add_layer(std::make_shared<const Convolution>(options), fusing.at(zeros).inputs,
                          *fusing.layer_of(index));
}

/// Merges cropping after a transposed convolution into the padding of the convolution.
std::optional<int> cut_transposed(Fusing& fusing, int index, const Edges& edges) {
  const int layer = fusing.at(index).inputs.front();
  const auto* transposed = fusing.kind_of<TransposedConvolution>(layer);
  if (transposed == nullptr || !fusing.has_one_reader(layer)) return std::nullopt;
  TransposedConvolution::Options options = transposed->options();
  const std::int64_t padding = options.window.padding - edges.top;
  const std::int64_t rest = options.output_padding + edges.bottom - edges.top;
  const bool fits = edges.top == edges.left && edges.bottom == edges.right && padding >= 0 &&
                    padding < options.window.extent() && rest >= 0 && rest < options.window.stride;
  if (!fits) return std::nullopt;
  options.window.padding = padding;
  options.output_padding = rest;
  return fusing.add_layer(std::make_shared<const TransposedConvolution>(options),
                          fusing.at(layer).inputs, *fusing.layer_of(layer));
}

/// Merges two paddings, unless the first removes elements that the second would fill with zeros.
std::optional<int> padded_twice(Fusing& fusing, int index, const Edges& edges) {
  const int inner = fusing.at(index).inputs.front();
  const auto* padding = fusing.kind_of<Padding>(inner);
  if (padding == nullptr || !fusing.has_one_reader(inner)) return std::nullopt;
  const Edges first = padding->edges();
  const auto differ = [](std::int64_t a, std::int64_t b) { return a < 0 && b > 0; };
  if (differ(first.top, edges.top) || differ(first.left, edges.left) ||
      differ(first.bottom, edges.bottom) || differ(first.right, edges.right)) {
    return std::nullopt;
  }
  const Edges both{.top = first.top + edges.top,
                   .left = first.left + edges.left,
                   .bottom = first.bottom + edges.bottom,
                   .right = first.right + edges.right};
  return fusing.add_layer(std::make_shared<const Padding>(both), fusing.at(inner).inputs);
}

}  // namespace

/// Replaces a 1×1 convolution of rows, reshaped to images of one pixel, by a linear layer.
std::optional<int> fused_pixels(Fusing& fusing, int index) {
  const auto* convolution = fusing.kind_of<Convolution>(index);
  if (convolution == nullptr) return std::nullopt;
  const Convolution::Options& options = convolution->options();
  const Operation& pixels = fusing.at(fusing.at(index).inputs.front());
  const bool is_pixel = pixels.kind == OpKind::reshape && pixels.shape[2].is_one() &&
                        pixels.shape[3].is_one() && fusing.shape(pixels.inputs.front()).size() == 2;
  if (!is_pixel || options.window != Window() || options.groups != 1) {
    return std::nullopt;
  }
  TranslatedLayer like = *fusing.layer_of(index);
  for (auto& [role, constant] : like.parameters) {
    const Extents shape = fusing.constants().shape(constant);
    if (role == "weights") constant = fusing.constants().reshape(constant, {shape[0], shape[1]});
  }
  const Extents to = fusing.shape(index);
  const int made =
      fusing.add_layer(std::make_shared<const Linear>(options.out_channels, options.bias),
                       {pixels.inputs.front()}, std::move(like));
  return fusing.graph().reshape(made, to);
}

std::optional<int> fused_padding(Fusing& fusing, int index) {
  if (const auto made = padded_convolution(fusing, index)) return made;
  const auto* padding = fusing.kind_of<Padding>(index);
  if (padding == nullptr) return std::nullopt;
  const Edges edges = padding->edges();
  if (const auto made = cut_transposed(fusing, index, edges)) return made;
  return padded_twice(fusing, index, edges);
}

std::optional<int> fused_global_pool(Fusing& fusing, int index) {
  const Operation& operation = fusing.at(index);
  if (!is_element(operation, ElementOp::product)) return std::nullopt;
  const Operation& sum = fusing.at(operation.inputs[0]);
  const auto factor = fusing.number_of(operation.inputs[1]);
  if (sum.kind != OpKind::reduction || sum.reduction != Reduction::sum || !factor ||
      sum.axes != std::vector<std::int64_t>{2, 3} || !is_image(fusing, sum.inputs.front())) {
    return std::nullopt;
  }
  const int x = sum.inputs.front();
  const Extents& from = fusing.shape(x);
  constexpr double tolerance = 1e-6;
  const double count = static_cast<double>(from[2].size) * static_cast<double>(from[3].size);
  if (std::abs(*factor * count - 1) > tolerance) return std::nullopt;
  const Extents to = operation.shape;
  return fusing.graph().reshape(fusing.add_layer(std::make_shared<const GlobalAveragePool>(), {x}),
                                to);
}

}  // namespace parbench::onnx_import
