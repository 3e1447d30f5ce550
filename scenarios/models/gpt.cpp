// Decoder-only transformers.
#include <fmt/format.h>

#include <stdexcept>

#include "scenarios/models/layers/activation.h"
#include "scenarios/models/layers/addition.h"
#include "scenarios/models/layers/attention.h"
#include "scenarios/models/layers/embedding.h"
#include "scenarios/models/layers/layer_norm.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"

namespace parbench {
namespace {

/// Attention and a perceptron of two layers, each behind a normalisation and beside a residual
/// connection. Returns the last layer.
int decoder_block(Network& net, const std::string& name, const GptSizes& sizes, int input) {
  constexpr std::int64_t expansion = 4;
  int x = net.add(name + ".ln_1", LayerNorm(), {input});
  x = net.add(name + ".attn.c_attn", Linear(3 * sizes.hidden), {x});
  x = net.add(name + ".attn", SelfAttention(sizes.heads), {x});
  x = net.add(name + ".attn.c_proj", Linear(sizes.hidden), {x});
  const int attended = net.add(name + ".residual_1", Addition(), {input, x});
  x = net.add(name + ".ln_2", LayerNorm(), {attended});
  x = net.add(name + ".mlp.c_fc", Linear(expansion * sizes.hidden), {x});
  x = net.add(name + ".mlp.act", Activation(ActivationKind::gelu_tanh), {x});
  x = net.add(name + ".mlp.c_proj", Linear(sizes.hidden), {x});
  return net.add(name + ".residual_2", Addition(), {attended, x});
}

}  // namespace

Network gpt(const GptSizes& sizes) {
  constexpr float deviation = 0.02F;  // of GPT-2's embeddings
  if (sizes.hidden % sizes.heads != 0) {
    throw std::invalid_argument(fmt::format("hidden is {}; it must be a multiple of the {} heads",
                                            sizes.hidden, sizes.heads));
  }
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
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("h.{}", i);
    net.unit(name);
    x = decoder_block(net, name, sizes, x);
  }
  net.unit("head");
  x = net.add("ln_f", LayerNorm(), {x});
  x = net.add("lm_head", Linear(sizes.vocabulary, !sizes.tied_head), {x});
  if (sizes.tied_head) net.tie(x, table);
  return net;
}

}  // namespace parbench
