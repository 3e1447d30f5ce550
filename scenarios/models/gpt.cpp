// Decoder-only transformers.
#include <fmt/format.h>

#include "scenarios/models/layers/activation.h"
#include "scenarios/models/layers/addition.h"
#include "scenarios/models/layers/attention.h"
#include "scenarios/models/layers/embedding.h"
#include "scenarios/models/layers/layer_norm.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"
#include "scenarios/models/parts.h"

namespace parbench {
namespace {

/// Attention behind a normalisation and beside a residual connection. Returns the last layer.
int attention_part(Network& net, const std::string& name, const BlockSizes& sizes, int input) {
  int x = net.add(name + "ln_1", LayerNorm(), {input});
  x = net.add(name + "attn.c_attn", Linear(3 * sizes.hidden), {x});
  x = net.add(name + "attn", SelfAttention(sizes.heads), {x});
  x = net.add(name + "attn.c_proj", Linear(sizes.hidden), {x});
  return net.add(name + "residual_1", Addition(), {input, x});
}

/// The same of a perceptron of two layers.
int perceptron_part(Network& net, const std::string& name, const BlockSizes& sizes, int input) {
  constexpr std::int64_t expansion = 4;
  int x = net.add(name + "ln_2", LayerNorm(), {input});
  x = net.add(name + "mlp.c_fc", Linear(expansion * sizes.hidden), {x});
  x = net.add(name + "mlp.act", Activation(ActivationKind::gelu_tanh), {x});
  x = net.add(name + "mlp.c_proj", Linear(sizes.hidden), {x});
  return net.add(name + "residual_2", Addition(), {input, x});
}

/// Without layers.
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

Network gpt(const GptSizes& sizes) {
  constexpr float deviation = 0.02F;  // of GPT-2's embeddings
  check_heads(sizes.hidden, sizes.heads);
  Network net;
  net.name = fmt::format("gpt of {} layers of {} with {} heads, {} tokens of {}{}", sizes.layers,
                         sizes.hidden, sizes.heads, sizes.sequence, sizes.vocabulary,
                         sizes.tied_head ? ", tied head" : "");
  net.input = {sizes.sequence};
  net.vocabulary = sizes.vocabulary;
  net.loss = Loss::cross_entropy;
  net.one_hot_target = false;
  net.unit("embedding");
  const int table =
      net.add("wte", Embedding(sizes.vocabulary, sizes.hidden, deviation), {network_input});
  int x = net.add("wpe", LearnedPositions(), {table});
  const BlockSizes block{.hidden = sizes.hidden, .heads = sizes.heads, .sequence = sizes.sequence};
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("h.{}", i);
    net.unit(name);
    x = attention_part(net, name + ".", block, x);
    x = perceptron_part(net, name + ".", block, x);
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
  perceptron_part(net, "", sizes, attention_part(net, "", sizes, network_input));
  return net;
}

Network perceptron_block(const BlockSizes& sizes) {
  Network net = block_of("perceptron block", sizes);
  perceptron_part(net, "", sizes, network_input);
  return net;
}

}  // namespace parbench
