// Selects the layers to divide, and makes their shards.
#include "scenarios/training/network_division.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/training/batch_data.h"

namespace parbench {
namespace {

/// Number of projections before attention: queries, keys and values.
constexpr int projections_of_attention = 3;

/// Returns the layer that reads the output of layer `index` if it is the only such layer and has no
/// other input; otherwise -1.
int only_reader(const Network& network, int index) {
  int found = -1;
  for (int reader = index + 1; reader < static_cast<int>(network.layers.size()); ++reader) {
    if (!network.layer(reader).reads(index)) continue;
    if (found >= 0) return -1;
    found = reader;
  }
  return found >= 0 && network.layer(found).inputs.size() == 1 ? found : -1;
}

bool has_own_weights(const Network& network, int index) {
  return as<Linear>(network.layer(index)) != nullptr && network.owner_of(index) == index &&
         !network.is_tied_to(index);
}

bool follows_normalisation(const Network& network, int index) {
  const int before = network.layer(index).inputs.front();
  return before != network_input && as<LayerNorm>(network.layer(before)) != nullptr &&
         only_reader(network, before) == index;
}

/// Indices of two linear layers and of the layer between them.
struct Pair {
  int first = 0;
  int joint = 0;
  int second = 0;
};

/// Returns the pairs of linear layers that are divided over shards (NetworkDivision), in order. No
/// layer is in two pairs.
std::vector<Pair> pairs_of(const Network& network) {
  std::vector<Pair> pairs;
  int free_from = 0;
  for (int first = 0; first < static_cast<int>(network.layers.size()); ++first) {
    if (first < free_from || !has_own_weights(network, first)) continue;
    const int joint = only_reader(network, first);
    if (joint < 0) continue;
    const Layer& between = network.layer(joint);
    if (as<Activation>(between) == nullptr && as<SelfAttention>(between) == nullptr) continue;
    const int second = only_reader(network, joint);
    if (second < 0 || !has_own_weights(network, second)) continue;
    pairs.push_back({first, joint, second});
    free_from = second + 1;
  }
  return pairs;
}

/// Returns the count that must be a multiple of the number of shards, and its noun: heads of
/// attention, or outputs of the first layer.
std::pair<std::int64_t, std::string_view> divided_count(const Network& network, const Pair& pair) {
  if (const auto* attention = as<SelfAttention>(network.layer(pair.joint))) {
    return {attention->heads(), "heads"};
  }
  return {network.layer(pair.first).output.back(), "outputs"};
}

using SharedValues = std::shared_ptr<const std::vector<float>>;

SharedValues initial_values(const Network& network, const ParameterSpec& spec, std::uint64_t seed) {
  if (network.stored_values) {
    if (SharedValues stored = network.stored_values(spec)) return stored;
  }
  return std::make_shared<const std::vector<float>>(
      drawn_on_host(initial_fill(network, spec, seed)));
}

}  // namespace

std::optional<std::string> obstacle_to_division(const Network& network, int shards,
                                                RestOfNetwork rest) {
  if (shards == 1) return std::nullopt;
  const std::vector<Pair> pairs = pairs_of(network);
  if (pairs.empty()) {
    return "parbench divides pairs of linear layers with one activation or attention between them, "
           "and this model has none";
  }
  for (const Pair& pair : pairs) {
    const auto [count, what] = divided_count(network, pair);
    if (count % shards == 0) continue;
    return fmt::format("{} has {} {}, which {} shards do not divide",
                       network.layer(pair.first).name, count, what, shards);
  }
  if (rest == RestOfNetwork::repeated) return std::nullopt;
  if (network.vocabulary > 0 || network.input.size() != 2) {
    return "parbench divides positions of activations, and this model has tokens or images";
  }
  const std::int64_t positions = network.input.front();
  if (positions % shards == 0) return std::nullopt;
  return fmt::format("{} positions cannot be divided into {} shards", positions, shards);
}

NetworkDivision::NetworkDivision(const Network& whole, int shards, RestOfNetwork rest,
                                 std::uint64_t seed)
    : shards_(shards), parameters_(whole.parameters()) {
  if (const auto obstacle = obstacle_to_division(whole, shards, rest)) {
    throw std::invalid_argument(*obstacle);
  }
  find_cuts(whole);
  for (int shard = 0; shard < shards; ++shard) networks_.push_back(divided(whole, shard, rest));
  give_initial_values(whole, seed);
}

void NetworkDivision::find_cuts(const Network& whole) {
  for (const Pair& pair : pairs_of(whole)) {
    const bool attends = as<SelfAttention>(whole.layer(pair.joint)) != nullptr;
    cuts_[pair.first] = {.by_outputs = true, .groups = attends ? projections_of_attention : 1};
    cuts_[pair.second] = {.by_outputs = false};
  }
}

Network NetworkDivision::divided(const Network& whole, int shard, RestOfNetwork rest) const {
  Network network = whole;
  network.name += fmt::format(", shard {} of {}", shard, shards_);
  if (rest == RestOfNetwork::by_positions) {
    network.name += " with a part of the positions";
    network.part = {.index = shard, .count = shards_};
    network.input.front() /= shards_;
  }
  for (int index = 0; index < static_cast<int>(network.layers.size()); ++index) {
    divide_layer(network, index, shard, rest);
    Layer& layer = network.layers[static_cast<std::size_t>(index)];
    std::vector<Shape> inputs;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
      inputs.push_back(network.input_of(layer, which));
    }
    layer.output = layer.kind->output_of(inputs);
  }
  return network;
}

void NetworkDivision::divide_layer(Network& network, int index, int shard,
                                   RestOfNetwork rest) const {
  Layer& layer = network.layers[static_cast<std::size_t>(index)];
  const bool by_positions = rest == RestOfNetwork::by_positions;
  if (const auto* norm = as<LayerNorm>(layer); norm != nullptr && by_positions) {
    const auto reader = cuts_.find(only_reader(network, index));
    if (reader != cuts_.end() && reader->second.by_outputs) {
      layer.kind = std::make_shared<const LayerNorm>(norm->epsilon(), network.part);
    }
    return;
  }
  if (const auto* attention = as<SelfAttention>(layer);
      attention != nullptr && cuts_.contains(layer.inputs.front())) {
    layer.kind =
        std::make_shared<const SelfAttention>(attention->heads() / shards_, attention->causal());
    return;
  }
  const auto found = cuts_.find(index);
  if (found == cuts_.end()) return;
  const auto& linear = *as<Linear>(layer);
  if (found->second.by_outputs) {
    if (by_positions && !follows_normalisation(network, index)) {
      throw std::invalid_argument(layer.name + " does not follow a normalisation of its own");
    }
    layer.kind = std::make_shared<const Linear>(
        layer.output.back() / shards_, linear.has_bias(),
        by_positions ? PartialSum::none : PartialSum::input_gradient);
  } else if (by_positions) {
    layer.kind =
        std::make_shared<const Linear>(layer.output.back(), linear.has_bias() && shard == 0,
                                       PartialSum::output_part, network.part);
  } else {
    layer.kind = std::make_shared<const Linear>(
        layer.output.back(), linear.has_bias() && shard == 0, PartialSum::output);
  }
}

// --- parameters ---

std::vector<NetworkDivision::Run> NetworkDivision::runs(const std::string& parameter,
                                                        int shard) const {
  const auto spec = std::ranges::find(parameters_, parameter, &ParameterSpec::name);
  if (spec == parameters_.end()) throw std::invalid_argument("no parameter " + parameter);
  const std::int64_t count = element_count(spec->shape);
  const auto found = cuts_.find(spec->layer);
  if (found == cuts_.end()) return {{0, count}};
  const Cut& cut = found->second;
  const std::int64_t outputs = spec->shape.front();
  const std::int64_t inputs = count / outputs;  // 1 for a bias
  std::vector<Run> runs;
  if (cut.by_outputs) {
    const std::int64_t group = outputs / cut.groups;
    const std::int64_t own = group / shards_;
    for (int g = 0; g < cut.groups; ++g) {
      runs.push_back({(g * group + shard * own) * inputs, own * inputs});
    }
  } else if (spec->role == "bias") {
    if (shard == 0) runs.push_back({0, count});
  } else {
    const std::int64_t own = inputs / shards_;
    for (std::int64_t row = 0; row < outputs; ++row)
      runs.push_back({row * inputs + shard * own, own});
  }
  return runs;
}

bool NetworkDivision::is_repeated(const std::string& parameter) const {
  const auto spec = std::ranges::find(parameters_, parameter, &ParameterSpec::name);
  return !cuts_.contains(spec->layer);
}

void NetworkDivision::give_initial_values(const Network& whole, std::uint64_t seed) {
  std::map<std::string, SharedValues> values;
  for (const ParameterSpec& spec : parameters_)
    values[spec.name] = initial_values(whole, spec, seed);
  for (int shard = 0; shard < shards_; ++shard) {
    std::map<std::string, SharedValues> own;
    for (const ParameterSpec& spec : parameters_) {
      if (is_repeated(spec.name)) {
        own[spec.name] = values[spec.name];
        continue;
      }
      auto part = std::make_shared<std::vector<float>>();
      for (const Run& run : runs(spec.name, shard)) {
        const auto begin = values[spec.name]->begin() + run.first;
        part->insert(part->end(), begin, begin + run.count);
      }
      own[spec.name] = std::move(part);
    }
    networks_[static_cast<std::size_t>(shard)].stored_values =
        [own = std::move(own)](const ParameterSpec& spec) { return own.at(spec.name); };
  }
}

}  // namespace parbench
