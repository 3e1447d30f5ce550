// A neural network as a list of layers: what a training stage is built from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// One layer. Inputs are indices of earlier layers; `network_input` is the sample itself.
struct Layer {
  std::string name;  // prefix of its parameters, as torchvision spells them
  std::shared_ptr<const LayerKind> kind;
  std::vector<int> inputs;
  Shape output = {};  // of one sample: {C, H, W} or {features}
  int unit = 0;       // index into Network::units
  int tied_to = -1;   // the earlier layer whose parameters it has instead of its own; -1: none

  /// Whether a tensor (Network::crossing) is one of its inputs.
  [[nodiscard]] bool reads(int tensor) const {
    return std::ranges::find(inputs, tensor) != inputs.end();
  }
};

/// The layer's kind where it is of that class, else null.
template <class Kind>
[[nodiscard]] const Kind* as(const Layer& layer) {
  return dynamic_cast<const Kind*>(layer.kind.get());
}

inline constexpr int network_input = -1;

/// What a prediction is held to: the mean over all its elements, or over all its positions.
enum class Loss {
  mean_squared_error,  // of a target of the prediction's shape
  cross_entropy,       // of the softmax over the last dimension; a class for each position
};

/// As --loss spells it.
[[nodiscard]] std::string_view to_string(Loss loss);

/// The values that a parameter begins with, in canonical order; null for one that is drawn.
using StoredValues =
    std::function<std::shared_ptr<const std::vector<float>>(const ParameterSpec& spec)>;

/// Layers in the order of execution. Units are what a model may be split between: few tensors cross
/// from a unit and those before it to the units behind, most often one.
struct Network {
  std::string name;  // with the sizes that its input does not show: others have another name
  Shape input;       // of one sample
  /// The input is of so many tokens, as i32; 0: it is in the case's number format.
  std::int64_t vocabulary = 0;
  /// Samples are shorter than the input: of so many tokens at least, with padding behind them that
  /// the loss ignores. 0: all have the input's length.
  std::int64_t min_length = 0;
  /// The positions of the network's input and target that it has: all but in a shard of a divided
  /// network.
  PositionPart part = {};
  Loss loss = Loss::mean_squared_error;
  std::vector<Layer> layers;
  std::vector<std::string> units;
  bool one_hot_target = true;       // else standard normal
  StoredValues stored_values = {};  // empty: all parameters are drawn
  /// Units that start the second and later stages in the published partition for two devices; empty
  /// when none was published.
  std::vector<std::string> published_partition;

  [[nodiscard]] const Layer& layer(int index) const {
    return layers.at(static_cast<std::size_t>(index));
  }
  /// Throws std::out_of_range, with the layer's name, for an input that it does not have.
  [[nodiscard]] Shape input_of(const Layer& layer, std::size_t which = 0) const;
  /// The tensors that layers from `first` on read from before it, each as the index of the layer
  /// whose output it is or `network_input`, ascending.
  [[nodiscard]] std::vector<int> crossing(int first) const;
  /// Of a tensor: an output, or the input.
  [[nodiscard]] const Shape& shape_of(int tensor) const {
    return tensor == network_input ? input : layer(tensor).output;
  }
  /// The shapes for a micro-batch.
  [[nodiscard]] LayerWork work_of(const Layer& layer, std::int64_t samples,
                                  NumberFormat format = {}) const;
  /// In torchvision's order; each once, with the layer that it belongs to.
  [[nodiscard]] std::vector<ParameterSpec> parameters() const;
  /// The layer that a layer's parameters belong to: itself unless it is tied.
  [[nodiscard]] int owner_of(int index) const {
    return layer(index).tied_to < 0 ? index : layer(index).tied_to;
  }
  /// Whether other layers are tied to a layer.
  [[nodiscard]] bool is_tied_to(int index) const {
    return std::ranges::find(layers, index, &Layer::tied_to) != layers.end();
  }
  /// The positions of a sample of the batch that are no padding: drawn by the generator alike for
  /// every seed, because the work depends on them.
  [[nodiscard]] std::int64_t length_of(std::int64_t sample) const;
  /// Positions of the batch's predictions that the loss is a mean over.
  [[nodiscard]] std::int64_t target_positions(std::int64_t batch) const;
  [[nodiscard]] std::int64_t classes() const { return layers.back().output.back(); }
  /// The fewest samples of a micro-batch that every layer can compute.
  [[nodiscard]] std::int64_t min_samples() const;
  /// The most samples of a batch whose positions (samples × height × width) can be counted in 31
  /// bits, in every tensor: libraries of kernels do so, and crash beyond.
  [[nodiscard]] std::int64_t max_samples() const;

  /// Appends a layer, whose output shape follows from its inputs, and returns its index. Throws
  /// std::invalid_argument, with the layer's name, for inputs that its kind cannot take.
  template <class Kind>
  int add(std::string layer_name, Kind kind, std::vector<int> inputs) {
    return append(std::move(layer_name), std::make_shared<const Kind>(std::move(kind)),
                  std::move(inputs));
  }
  /// The same, of a kind that others share.
  int add_shared(std::string layer_name, std::shared_ptr<const LayerKind> kind,
                 std::vector<int> inputs) {
    return append(std::move(layer_name), std::move(kind), std::move(inputs));
  }
  /// Makes a layer use the parameters of an earlier one, which have the same roles and shapes, and
  /// add its gradients to theirs. Throws std::logic_error for other parameters.
  void tie(int index, int to);
  /// Starts a unit: the layers appended from now on belong to it.
  void unit(std::string unit_name);

 private:
  int append(std::string layer_name, std::shared_ptr<const LayerKind> kind,
             std::vector<int> inputs);
};

/// A shape of one sample with the number of samples in front.
[[nodiscard]] Shape with_samples(std::int64_t samples, const Shape& sample);

}  // namespace parbench
