// Shapes and parameters that follow from a list of layers.
#include "scenarios/models/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace parbench {
namespace {

/// Extent after a window of `kernel` moved in steps of `stride` over a padded extent.
std::int64_t windows(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, const std::string& layer) {
  const std::int64_t room = extent + 2 * padding - kernel;
  if (room < 0) {
    throw std::invalid_argument(
        fmt::format("{}: an extent of {} is too small for a window of {}", layer, extent, kernel));
  }
  return room / stride + 1;
}

}  // namespace

Shape Network::input_of(const Layer& layer, std::size_t which) const {
  const int index = layer.inputs.at(which);
  return index == network_input ? input : layers.at(static_cast<std::size_t>(index)).output;
}

std::vector<ParameterSpec> Network::parameters() const {
  std::vector<ParameterSpec> found;
  std::vector<int> order(layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int index) {
    const Layer& layer = layers[static_cast<std::size_t>(index)];
    return layer.kind == LayerKind::batch_norm ? layer.inputs.front() : index;
  });
  for (const int index : order) {
    const Layer& layer = layers[static_cast<std::size_t>(index)];
    const std::int64_t in = input_of(layer).front();
    const std::int64_t out = layer.output.front();
    if (layer.kind == LayerKind::convolution) {
      found.push_back(
          {layer.name + ".weight", index, "weights", {out, in, layer.kernel, layer.kernel}});
    } else if (layer.kind == LayerKind::batch_norm) {
      found.push_back({layer.name + ".weight", index, "scale", {out}});
      found.push_back({layer.name + ".bias", index, "shift", {out}});
    } else if (layer.kind == LayerKind::linear) {
      found.push_back({layer.name + ".weight", index, "weights", {out, in}});
      found.push_back({layer.name + ".bias", index, "bias", {out}});
    }
  }
  return found;
}

std::int64_t Network::min_samples() const {
  const bool single_value = std::ranges::any_of(layers, [](const Layer& layer) {
    return layer.kind == LayerKind::batch_norm &&
           element_count(layer.output) == layer.output.front();
  });
  return single_value ? 2 : 1;
}

std::int64_t Network::max_samples() const {
  const auto positions = [](const Shape& sample) { return element_count(sample) / sample.front(); };
  std::int64_t max = positions(input);
  for (const Layer& layer : layers) max = std::max(max, positions(layer.output));
  return std::numeric_limits<std::int32_t>::max() / max;
}

int Network::append(Layer layer) {
  if (units.empty()) throw std::logic_error("a layer belongs to a unit: start one first");
  layer.unit = static_cast<int>(units.size()) - 1;
  layers.push_back(std::move(layer));
  return static_cast<int>(layers.size()) - 1;
}

void Network::unit(std::string unit_name) { units.push_back(std::move(unit_name)); }

int Network::convolution(std::string layer_name, int in, std::int64_t out_channels,
                         std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  Layer layer{.kind = LayerKind::convolution,
              .name = std::move(layer_name),
              .inputs = {in},
              .output = {},
              .kernel = kernel,
              .stride = stride,
              .padding = padding};
  const Shape from = input_of(layer);
  layer.output = {out_channels, windows(from.at(1), kernel, stride, padding, layer.name),
                  windows(from.at(2), kernel, stride, padding, layer.name)};
  return append(std::move(layer));
}

int Network::batch_norm(std::string layer_name, int in, bool relu_after,
                        std::optional<int> addend) {
  Layer layer{.kind = LayerKind::batch_norm, .name = std::move(layer_name), .inputs = {in}};
  layer.output = input_of(layer);
  layer.relu = relu_after;
  if (addend) {
    layer.inputs.push_back(*addend);
    if (!relu_after || input_of(layer, 1) != layer.output) {
      throw std::invalid_argument(
          fmt::format("{}: an addend needs the layer's shape and a ReLU behind it", layer.name));
    }
  }
  return append(std::move(layer));
}

int Network::max_pool(int in, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  Layer layer{.kind = LayerKind::max_pool,
              .name = "maxpool",
              .inputs = {in},
              .output = {},
              .kernel = kernel,
              .stride = stride,
              .padding = padding};
  const Shape from = input_of(layer);
  layer.output = {from.at(0), windows(from.at(1), kernel, stride, padding, layer.name),
                  windows(from.at(2), kernel, stride, padding, layer.name)};
  return append(std::move(layer));
}

int Network::global_average_pool(int in) {
  Layer layer{.kind = LayerKind::global_average_pool, .name = "avgpool", .inputs = {in}};
  layer.output = {input_of(layer).front()};
  return append(std::move(layer));
}

int Network::linear(std::string layer_name, int in, std::int64_t out_features) {
  return append({.kind = LayerKind::linear,
                 .name = std::move(layer_name),
                 .inputs = {in},
                 .output = {out_features}});
}

int Network::relu(int in) {
  Layer layer{.kind = LayerKind::relu, .name = "relu", .inputs = {in}};
  layer.output = input_of(layer);
  return append(std::move(layer));
}

}  // namespace parbench
