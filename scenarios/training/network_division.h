// Division of a network's layers into shards (tensor parallelism).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// How shards compute the layers that are not divided.
enum class RestOfNetwork {
  repeated,      // every shard computes them for all positions
  by_positions,  // each shard computes them for its part of the positions
};

/// Returns why a network cannot be divided into that number of shards; nothing if it can.
[[nodiscard]] std::optional<std::string> obstacle_to_division(
    const Network& network, int shards, RestOfNetwork rest = RestOfNetwork::repeated);

/// Shards of a network. Divides pairs of linear layers with an activation or attention between
/// them, as Megatron-LM does (Shoeybi et al. 2019). A shard has some outputs of the first layer
/// (with attention: some heads) and the corresponding inputs of the second layer, whose output is
/// the sum over the shards. Shard 0 adds the bias of that sum. The network of each shard has the
/// layer indices of the whole network. The initial values of its parameters are those of the whole
/// network's parameters, or parts of them.
class NetworkDivision {
 public:
  /// With `by_positions` (Korthikanti et al. 2022), each pair must follow a normalisation that no
  /// other layer reads, and the other layers must be normalisations and residual connections (not
  /// checked). Throws std::invalid_argument if a pair does not follow such a normalisation, or
  /// `obstacle_to_division` returns an obstacle. Does not keep a reference to `whole`.
  NetworkDivision(const Network& whole, int shards, RestOfNetwork rest, std::uint64_t seed);

  [[nodiscard]] const Network& network(int shard) const {
    return networks_.at(static_cast<std::size_t>(shard));
  }
  [[nodiscard]] int shards() const { return static_cast<int>(networks_.size()); }

  /// Consecutive elements of a parameter of the whole network, in canonical order.
  struct Run {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// Returns the elements of a parameter of the whole network that a shard has, in order; empty if
  /// the shard has none. Throws std::invalid_argument for an unknown parameter.
  [[nodiscard]] std::vector<Run> runs(const std::string& parameter, int shard) const;
  /// Returns whether every shard has the whole parameter.
  [[nodiscard]] bool is_repeated(const std::string& parameter) const;
  /// Returns the parameters of the whole network, in order.
  [[nodiscard]] const std::vector<ParameterSpec>& parameters() const { return parameters_; }

 private:
  struct Cut {
    bool by_outputs = false;  // false: by inputs
    int groups = 1;  // groups of outputs that are divided separately: queries, keys and values
  };
  /// Throws std::invalid_argument for an unknown parameter.
  [[nodiscard]] const ParameterSpec& spec_of(const std::string& parameter) const;
  void find_cuts(const Network& whole);
  [[nodiscard]] Network divided(const Network& whole, int shard, RestOfNetwork rest) const;
  void divide_layer(Network& network, int index, int shard, RestOfNetwork rest) const;
  void give_initial_values(const Network& whole, std::uint64_t seed);

  int shards_;
  std::map<int, Cut> cuts_;  // by layer
  std::vector<ParameterSpec> parameters_;
  std::vector<Network> networks_;  // by shard
};

}  // namespace parbench
