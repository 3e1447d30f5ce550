// One pass over the layers: each is kept, dropped, or merged into a layer that is kept.
#include "scenarios/inference/inference_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"

namespace parbench {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const Network& network) : old_(network), new_(network) { new_.layers.clear(); }

  [[nodiscard]] Network result() && {
    for (int index = 0; index < static_cast<int>(old_.layers.size()); ++index) {
      new_indices_.push_back(new_index(index));
    }
    return std::move(new_);
  }

 private:
  /// Returns the new index of a tensor of the old network.
  [[nodiscard]] int at(int tensor) const {
    return tensor == network_input ? tensor : new_indices_.at(static_cast<std::size_t>(tensor));
  }

  /// Returns the index of an old layer's output in the new network; adds the layer if necessary.
  [[nodiscard]] int new_index(int index) {
    const Layer& layer = old_.layer(index);
    const int merged = layer.inputs.empty() ? network_input : at(layer.inputs.front());
    if (may_become(index, merged)) {
      if (as<RandomDropout>(layer) != nullptr) return merged;
      if (clamps_convolution(layer)) {
        clamp(new_.layers.at(static_cast<std::size_t>(merged)));
        return merged;
      }
    }
    Layer& kept = new_.layers.emplace_back(layer);
    for (int& input : kept.inputs) input = at(input);
    if (kept.tied_to >= 0) kept.tied_to = at(kept.tied_to);
    return static_cast<int>(new_.layers.size()) - 1;
  }

  /// Returns whether `merged`, a new layer or the network's input, may replace the old layer
  /// `index`. The last old layer is the network's output, so only the last new layer may replace
  /// it.
  [[nodiscard]] bool may_become(int index, int merged) const {
    const bool is_output = index == static_cast<int>(old_.layers.size()) - 1;
    return !is_output ||
           (merged != network_input && merged == static_cast<int>(new_.layers.size()) - 1);
  }

  [[nodiscard]] bool clamps_convolution(const Layer& layer) const {
    const auto* activation = as<Activation>(layer);
    if (activation == nullptr || activation->kind() != ActivationKind::relu) return false;
    const int source = layer.inputs.front();
    if (source == network_input || as<Convolution>(old_.layer(source)) == nullptr) return false;
    return std::ranges::count_if(old_.layers,
                                 [&](const Layer& reader) { return reader.reads(source); }) == 1;
  }

  static void clamp(Layer& convolution) {
    Convolution::Options options = as<Convolution>(convolution)->options();
    options.relu = true;
    convolution.kind = std::make_shared<const Convolution>(options);
  }

  const Network& old_;
  Network new_;
  std::vector<int> new_indices_;  // by old index
};

}  // namespace

Network for_inference(const Network& network) { return Rewriter(network).result(); }

std::string obstacle_to_batch(const Network& network, std::int64_t batch) {
  if (batch >= network.min_samples() && batch <= network.max_samples()) return {};
  return fmt::format("--batch {}: {} takes batches of {} to {} at these sizes", batch, network.name,
                     network.min_samples(), network.max_samples());
}

}  // namespace parbench
