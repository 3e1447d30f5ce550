// Decoder-only transformers.
#include <fmt/format.h>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/transformer_parts.h"

namespace parbench {
namespace {

/// Returns the network of a single block, without layers.
Network block_of(const std::string& kind, const BlockSizes& sizes) {
  Network net;
  net.name = fmt::format("{} of {} positions of {} with {} heads", kind, sizes.sequence,
                         sizes.hidden, sizes.heads);
  net.input = {sizes.sequence, sizes.hidden};
  net.one_hot_target = false;
  net.unit("block");
  return net;
}

}  // namespace

Network gpt(const TransformerSizes& sizes) {
  constexpr float deviation = 0.02F;  // standard deviation of GPT-2's embeddings
  check_heads(sizes.hidden, sizes.heads);
  Network net =
      network_of_tokens(fmt::format("gpt of {} layers of {} with {} heads, {} tokens of {}{}",
                                    sizes.layers, sizes.hidden, sizes.heads, sizes.sequence,
                                    sizes.vocabulary, sizes.tied_head ? ", tied head" : ""),
                        sizes.sequence, sizes.vocabulary);
  const int table =
      net.add("wte", Embedding(sizes.vocabulary, sizes.hidden, deviation), {network_input});
  int x = net.add("wpe", LearnedPositions(), {table});
  const BlockKind block{.heads = sizes.heads};
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("h.{}", i);
    net.unit(name);
    x = add_attention_part(net, name + ".", block, x);
    x = add_perceptron_part(net, name + ".", block, x);
  }
  net.unit("head");
  x = net.add("ln_f", LayerNorm(), {x});
  x = net.add("lm_head", Linear(sizes.vocabulary, !sizes.tied_head), {x});
  if (sizes.tied_head) net.tie(x, table);
  return net;
}

Network transformer_block(const BlockSizes& sizes) {
  check_heads(sizes.hidden, sizes.heads);
  Network net = block_of("transformer block", sizes);
  const BlockKind kind{.heads = sizes.heads};
  add_perceptron_part(net, "", kind, add_attention_part(net, "", kind, network_input));
  return net;
}

Network perceptron_block(const BlockSizes& sizes) {
  Network net = block_of("perceptron block", sizes);
  add_perceptron_part(net, "", {}, network_input);
  return net;
}

}  // namespace parbench
