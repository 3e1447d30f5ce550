// A neural network as a list of layers, from which training stages are built.
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

/// One layer. Inputs are indices of earlier layers, or `network_input`.
struct Layer {
  std::string name;  // prefix of the names of the layer's parameters
  std::shared_ptr<const LayerKind> kind;
  std::vector<int> inputs;
  Shape output = {};  // shape of one sample, such as {C, H, W} or {features}
  int unit = 0;       // index into Network::units
  int tied_to = -1;   // earlier layer whose parameters this layer uses; -1: none

  /// Returns whether a tensor, the output of a layer or `network_input`, is one of the inputs.
  [[nodiscard]] bool reads(int tensor) const {
    return std::ranges::find(inputs, tensor) != inputs.end();
  }
};

/// Returns the layer's kind if it is of class `Kind`, otherwise null.
template <class Kind>
[[nodiscard]] const Kind* as(const Layer& layer) {
  return dynamic_cast<const Kind*>(layer.kind.get());
}

inline constexpr int network_input = -1;

/// Loss function of the prediction: a mean over elements (mean_squared_error) or over the positions
/// of the target (cross_entropy).
enum class Loss {
  mean_squared_error,  // the target has the shape of the prediction
  cross_entropy,       // softmax over the last dimension; one class per position
};

/// Returns the name for --loss.
[[nodiscard]] std::string_view to_string(Loss loss);

/// A function that returns the initial values of a parameter in canonical order, or null if these
/// are drawn at random.
using StoredValues =
    std::function<std::shared_ptr<const std::vector<float>>(const ParameterSpec& spec)>;

/// Layers in the order of execution. A model may be split between its units: few tensors, most
/// often one, cross from the units before a split to those after it.
struct Network {
  // the name of a shipped model includes the sizes that users can set and `input` does not show
  std::string name;
  Shape input;  // shape of one sample
  /// If above 0, the input consists of i32 tokens below this number; 0: numbers in the case's
  /// format.
  std::int64_t vocabulary = 0;
  /// Minimum number of tokens of a sample. Samples are padded to the input's length, and the loss
  /// ignores the padding. 0: all samples have the input's length.
  std::int64_t min_length = 0;
  /// The part of the positions of input and target that this network has: all, unless it is a shard
  /// of a divided network.
  PositionPart part = {};
  Loss loss = Loss::mean_squared_error;
  std::vector<Layer> layers;
  std::vector<std::string> units;
  // target of mean_squared_error: if true, one class per sample; otherwise standard normal numbers
  bool one_hot_target = true;
  StoredValues stored_values = {};  // empty: all parameters are drawn
  /// Units that start the second and later stages in the published partition; empty if none was
  /// published.
  std::vector<std::string> published_partition;

  [[nodiscard]] const Layer& layer(int index) const {
    return layers.at(static_cast<std::size_t>(index));
  }
  /// Returns the shape of the layer's input number `which`. Throws std::out_of_range, with the
  /// layer's name, if there is none.
  [[nodiscard]] Shape input_of(const Layer& layer, std::size_t which = 0) const;
  /// Returns the tensors that layers from `first` on read from earlier layers, as indices of layers
  /// or `network_input`, ascending.
  [[nodiscard]] std::vector<int> crossing(int first) const;
  /// Returns the shape of one sample of a tensor: of a layer's output, or of the network's input.
  [[nodiscard]] const Shape& shape_of(int tensor) const {
    return tensor == network_input ? input : layer(tensor).output;
  }
  /// Returns the work of a layer for `samples` samples.
  [[nodiscard]] LayerWork work_of(const Layer& layer, std::int64_t samples,
                                  NumberFormat format = {}) const;
  /// Returns the parameters in PyTorch's order, each once, with the layer that owns it.
  [[nodiscard]] std::vector<ParameterSpec> parameters() const;
  /// Returns the layer that owns a layer's parameters: itself unless it is tied.
  [[nodiscard]] int owner_of(int index) const {
    return layer(index).tied_to < 0 ? index : layer(index).tied_to;
  }
  [[nodiscard]] bool is_tied_to(int index) const {
    return std::ranges::find(layers, index, &Layer::tied_to) != layers.end();
  }
  /// Returns the number of positions of a sample without padding. It does not depend on the seed,
  /// so that all seeds have the same amount of work.
  [[nodiscard]] std::int64_t length_of(std::int64_t sample) const;
  /// Returns the number of positions in a batch of `batch` samples over which the loss is a mean.
  [[nodiscard]] std::int64_t target_positions(std::int64_t batch) const;
  [[nodiscard]] std::int64_t classes() const { return layers.back().output.back(); }
  /// Returns the minimum number of samples of a micro-batch that every layer can compute.
  [[nodiscard]] std::int64_t min_samples() const;
  /// Returns the maximum number of samples of a batch: kernel libraries count the positions
  /// (samples × height × width) of a tensor in 31 bits, and crash beyond.
  [[nodiscard]] std::int64_t max_samples() const;

  /// Appends a layer, whose output shape is derived from its inputs, and returns its index. Throws
  /// std::invalid_argument, with the layer's name, for inputs that do not precede the layer or that
  /// the layer's kind does not support.
  template <class Kind>
  int add(std::string layer_name, Kind kind, std::vector<int> inputs) {
    return append(std::move(layer_name), std::make_shared<const Kind>(std::move(kind)),
                  std::move(inputs));
  }
  /// Like `add`, with a kind that layers share.
  int add_shared(std::string layer_name, std::shared_ptr<const LayerKind> kind,
                 std::vector<int> inputs) {
    return append(std::move(layer_name), std::move(kind), std::move(inputs));
  }
  /// Makes layer `index` use the parameters of the earlier layer `to`; the gradients of both layers
  /// are added. Throws std::logic_error unless `to` is earlier and has parameters of the same roles
  /// and shapes.
  void tie(int index, int to);
  /// Starts a unit, to which the layers appended next belong.
  void unit(std::string unit_name);

 private:
  int append(std::string layer_name, std::shared_ptr<const LayerKind> kind,
             std::vector<int> inputs);
};

/// Returns the shape of `samples` samples, each of shape `sample`: the number of samples comes
/// first.
[[nodiscard]] Shape with_samples(std::int64_t samples, const Shape& sample);

}  // namespace parbench
