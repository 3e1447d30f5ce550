// A neural network as a list of layers: what a training stage is built from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench {

enum class LayerKind {
  convolution,  // without bias: a batch normalisation follows
  batch_norm,   // with ReLU when `relu`; a second input is added ahead of it
  max_pool,
  global_average_pool,
  linear,  // with bias
  relu,
};

/// One layer. Inputs are indices of earlier layers; `network_input` is the sample itself.
struct Layer {
  LayerKind kind = LayerKind::convolution;
  std::string name;  // prefix of its parameters, as torchvision spells them
  std::vector<int> inputs;
  Shape output = {};  // of one sample: {C, H, W} or {features}
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool relu = false;
  int unit = 0;  // index into Network::units
};

inline constexpr int network_input = -1;

/// A trainable tensor of a layer.
struct ParameterSpec {
  std::string name;  // "layer1.0.conv1.weight"
  int layer = 0;
  std::string role;  // of the layer's forward operation: "weights", "bias", "scale", "shift"
  Shape shape;
};

/// Layers in the order of execution. Units are what a model may be split between: only one tensor,
/// the output of a unit's last layer, crosses from a unit to the next.
struct Network {
  std::string name;
  Shape input;  // of one sample
  std::vector<Layer> layers;
  std::vector<std::string> units;
  bool one_hot_target = true;  // else standard normal
  /// Units that start the second and later stages in the published partition for two devices; empty
  /// when none was published.
  std::vector<std::string> published_partition;

  [[nodiscard]] Shape input_of(const Layer& layer, std::size_t which = 0) const;
  /// In torchvision's order: a batch normalisation's follow those of the layer that it normalises.
  [[nodiscard]] std::vector<ParameterSpec> parameters() const;
  [[nodiscard]] std::int64_t classes() const { return layers.back().output.front(); }
  /// The fewest samples of a micro-batch with which every batch normalisation sees more than one
  /// value per channel: with a single one there is no variance to divide by.
  [[nodiscard]] std::int64_t min_samples() const;
  /// The most samples of a batch whose positions (samples × height × width) can be counted in 31
  /// bits, in every tensor: libraries of kernels do so, and crash beyond.
  [[nodiscard]] std::int64_t max_samples() const;

  /// Appends a layer whose output shape follows from its input and returns its index.
  int convolution(std::string layer_name, int input, std::int64_t out_channels, std::int64_t kernel,
                  std::int64_t stride, std::int64_t padding);
  /// `addend`: a layer whose output is added ahead of the ReLU, the shortcut of a residual block.
  int batch_norm(std::string layer_name, int input, bool relu, std::optional<int> addend = {});
  int max_pool(int input, std::int64_t kernel, std::int64_t stride, std::int64_t padding);
  int global_average_pool(int input);
  int linear(std::string layer_name, int input, std::int64_t out_features);
  int relu(int input);
  /// Starts a unit: the layers appended from now on belong to it.
  void unit(std::string unit_name);

 private:
  int append(Layer layer);
};

}  // namespace parbench
