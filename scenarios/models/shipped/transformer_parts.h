// The parts that blocks of transformers are built from.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/activation_kind.h"
#include "scenarios/models/network.h"

namespace parbench {

/// What blocks of different transformers differ in beside their width, which is that of the input.
struct BlockKind {
  std::int64_t heads = 1;
  bool causal = true;
  ActivationKind function = ActivationKind::gelu_tanh;
  float epsilon = 1e-5F;  // of normalisations
};

/// A network without layers that reads `sequence` tokens of a vocabulary and predicts one for each
/// position. The layers that follow belong to unit "embedding".
[[nodiscard]] Network network_of_tokens(std::string name, std::int64_t sequence,
                                        std::int64_t vocabulary);

/// Throws std::invalid_argument, which names both flags, unless the heads divide the width.
void check_heads(std::int64_t hidden, std::int64_t heads);

// Each appends layers whose names begin with `name`, and returns the last one.

/// Projections, attention and the projection behind it.
int add_attention(Network& net, const std::string& name, const BlockKind& kind, int input);
/// A perceptron of two layers, four times as wide in between.
int add_perceptron(Network& net, const std::string& name, const BlockKind& kind, int input);

/// Attention behind a normalisation and beside a residual connection.
int add_attention_part(Network& net, const std::string& name, const BlockKind& kind, int input);
/// The same of a perceptron.
int add_perceptron_part(Network& net, const std::string& name, const BlockKind& kind, int input);

}  // namespace parbench
