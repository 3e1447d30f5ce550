// Facts about a network and one of its training steps, for users who want to divide it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/stream.h"
#include "scenarios/models/network.h"

namespace parbench {

[[nodiscard]] double linear_layers(const Network& network);

/// Returns the number of convolutions if no layer normalises and each convolution has a bias, as in
/// files whose exporter has folded batch normalisations into convolutions; otherwise 0. In a
/// Composition, every convolution counts, with or without a bias.
[[nodiscard]] std::size_t convolutions_without_normalisation(const Network& network);

/// Sums over layers, for a whole batch.
struct NetworkAmounts {
  std::size_t layers = 0;
  std::int64_t parameters = 0;
  double forward_flops = 0;
  double step_flops = 0;       // forward, backward and update
  std::size_t kept_bytes = 0;  // activations kept for the backward pass
};

struct LayerFacts {
  std::string name;
  std::string kind;
  std::string unit;
  std::vector<std::string> reads;  // names of layers; "input" for the network's input
  Shape output;                    // shape of one sample
  NetworkAmounts amounts;
};

/// Facts about a unit; stages of a pipeline consist of whole units.
struct UnitFacts {
  std::string name;
  /// Maximum number of the unit's layers in one topological level, which can run concurrently.
  std::size_t branches = 1;
  /// Tensors that cross the cut point before the unit in the forward pass. Their gradients, of the
  /// same size, cross it in the backward pass.
  std::size_t crossing_tensors = 0;
  std::size_t crossing_bytes = 0;
  NetworkAmounts amounts;
};

struct NetworkFacts {
  std::vector<LayerFacts> layers;
  std::vector<UnitFacts> units;
  NetworkAmounts total;  // with the FLOPs of the loss, which does not belong to a layer
};

/// Returns the facts of a training step in f32 with SGD and a batch of `samples` samples. The step
/// is only planned, for the stream's device, and not run.
[[nodiscard]] NetworkFacts facts_of(Stream& stream, const Network& network, std::int64_t samples);

}  // namespace parbench
