// What a network consists of, and what one training step of it takes: what users want to know of a
// model before they divide it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/stream.h"
#include "scenarios/models/network.h"

namespace parbench {

/// How many products with weights follow each other at most: its linear layers.
[[nodiscard]] double linear_layers(const Network& network);

/// The number of convolutions of a network in which no layer normalises and each convolution has a
/// bias, as files have them whose exporter has folded batch normalisations into them; else 0. Of
/// layers that are composed of general operations each counts, with or without a bias.
[[nodiscard]] std::size_t convolutions_without_normalisation(const Network& network);

/// Sums over layers, for a whole batch.
struct NetworkAmounts {
  std::size_t layers = 0;
  std::int64_t parameters = 0;
  double forward_flops = 0;
  double step_flops = 0;       // forward, backward and update
  std::size_t kept_bytes = 0;  // activations that wait for the backward pass
};

struct LayerFacts {
  std::string name;
  std::string kind;
  std::string unit;
  std::vector<std::string> reads;  // names of layers; "input" for the network's input
  Shape output;                    // of one sample
  NetworkAmounts amounts;
};

/// A unit; stages of a pipeline begin with units.
struct UnitFacts {
  std::string name;
  /// The most layers of one topological level: at least so many can run at once.
  std::size_t branches = 1;
  /// What crosses from the units before it in the forward pass: as much goes back in the backward
  /// pass.
  std::size_t crossing_tensors = 0;
  std::size_t crossing_bytes = 0;
  NetworkAmounts amounts;
};

struct NetworkFacts {
  std::vector<LayerFacts> layers;
  std::vector<UnitFacts> units;
  NetworkAmounts total;  // with the loss, which belongs to no layer
};

/// Plans a training step in f32 on the stream's device for batches of `samples`, without memory and
/// without running it.
[[nodiscard]] NetworkFacts facts_of(Stream& stream, const Network& network, std::int64_t samples);

}  // namespace parbench
