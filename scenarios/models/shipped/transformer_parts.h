// Parts of transformer blocks.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/activation_kind.h"
#include "scenarios/models/network.h"

namespace parbench {

/// Settings of a transformer block. The block is as wide as its input.
struct BlockKind {
  std::int64_t heads = 1;
  bool causal = true;
  ActivationKind function = ActivationKind::gelu_tanh;
  float epsilon = 1e-5F;
};

/// Returns a network without layers that reads `sequence` tokens of a vocabulary and predicts a
/// token for each position. Layers appended next belong to unit "embedding".
[[nodiscard]] Network network_of_tokens(std::string name, std::int64_t sequence,
                                        std::int64_t vocabulary);

/// Throws std::invalid_argument, with the names of both flags, unless the heads divide the width.
void check_heads(std::int64_t hidden, std::int64_t heads);

// The following functions append layers whose names begin with `name`, and return the last one.

/// Appends projections, attention and the output projection.
int add_attention(Network& net, const std::string& name, const BlockKind& kind, int input);
/// Appends a perceptron of two layers, whose inner width is four times the outer one.
int add_perceptron(Network& net, const std::string& name, const BlockKind& kind, int input);

/// Appends attention after a normalisation, with a residual connection.
int add_attention_part(Network& net, const std::string& name, const BlockKind& kind, int input);
/// Appends a perceptron after a normalisation, with a residual connection.
int add_perceptron_part(Network& net, const std::string& name, const BlockKind& kind, int input);

}  // namespace parbench
