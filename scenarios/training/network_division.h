// A network divided within its layers: what each shard has of it (tensor parallelism).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// What shards have of the layers that are not divided.
enum class RestOfNetwork {
  repeated,      // every shard computes them for all positions
  by_positions,  // each computes them for its part of the positions
};

/// Returns why a network cannot be divided into that number of shards; nothing where it can.
[[nodiscard]] std::optional<std::string> obstacle_to_division(
    const Network& network, int shards, RestOfNetwork rest = RestOfNetwork::repeated);

/// Divides pairs of linear layers that a function of one element or attention joins, as Megatron-LM
/// does (Shoeybi et al. 2019): a shard has some outputs of the first layer, so some heads of the
/// attention, and the same inputs of the second one, whose output is the sum of what the shards
/// have. The bias of that sum belongs to shard 0. All networks have the layers of the whole one at
/// the same places. Parameters begin with their part of what the whole network's begin with.
class NetworkDivision {
 public:
  /// `by_positions` (Korthikanti et al. 2022) is for networks of normalisations, residual
  /// connections and such pairs, each behind a normalisation of its own, whose length the shards
  /// divide. Throws std::invalid_argument for a network that it cannot divide. Does not refer to
  /// the whole network later.
  NetworkDivision(const Network& whole, int shards, RestOfNetwork rest, std::uint64_t seed);

  [[nodiscard]] const Network& network(int shard) const {
    return networks_.at(static_cast<std::size_t>(shard));
  }
  [[nodiscard]] int shards() const { return static_cast<int>(networks_.size()); }

  /// Neighbouring elements of a whole parameter, in canonical order.
  struct Run {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// What a shard has of a parameter of the whole network, in its order; empty: nothing.
  [[nodiscard]] std::vector<Run> runs(const std::string& parameter, int shard) const;
  /// Whether every shard has all of it.
  [[nodiscard]] bool is_repeated(const std::string& parameter) const;
  /// In the order of the whole network.
  [[nodiscard]] const std::vector<ParameterSpec>& parameters() const { return parameters_; }

 private:
  /// What becomes of a linear layer.
  struct Cut {
    bool by_outputs = false;  // else by inputs
    int groups = 1;           // of outputs, each of which is divided: queries, keys and values
  };
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
