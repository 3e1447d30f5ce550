// Encoders of text.
#include <fmt/format.h>

#include <string>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/composed_kinds.h"
#include "scenarios/models/shipped/transformer_parts.h"

namespace parbench {

Network bert(const TransformerSizes& sizes) {
  constexpr float deviation = 0.02F;  // standard deviation of embeddings
  const BlockKind block{
      .heads = sizes.heads, .causal = false, .function = ActivationKind::gelu, .epsilon = 1e-12F};
  check_heads(sizes.hidden, sizes.heads);
  Network net =
      network_of_tokens(fmt::format("bert of {} layers of {} with {} heads, {} tokens of {}{}",
                                    sizes.layers, sizes.hidden, sizes.heads, sizes.sequence,
                                    sizes.vocabulary, sizes.tied_head ? ", tied head" : ""),
                        sizes.sequence, sizes.vocabulary);
  const int table = net.add("word_embeddings", Embedding(sizes.vocabulary, sizes.hidden, deviation),
                            {network_input});
  int x = net.add("embeddings", positions_and_segment(net.shape_of(table)), {table});
  x = net.add("embeddings.norm", LayerNorm(block.epsilon), {x});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("layer.{}", i);
    net.unit(name);
    int part = add_attention(net, name + ".", block, x);
    part = net.add(name + ".residual_1", Addition(), {x, part});
    x = net.add(name + ".ln_1", LayerNorm(block.epsilon), {part});
    part = add_perceptron(net, name + ".", block, x);
    part = net.add(name + ".residual_2", Addition(), {x, part});
    x = net.add(name + ".ln_2", LayerNorm(block.epsilon), {part});
  }
  net.unit("head");
  x = net.add("transform", Linear(sizes.hidden), {x});
  x = net.add("transform.act", Activation(block.function), {x});
  x = net.add("transform.norm", LayerNorm(block.epsilon), {x});
  x = net.add("decoder", Linear(sizes.vocabulary, !sizes.tied_head), {x});
  if (sizes.tied_head) net.tie(x, table);
  return net;
}

}  // namespace parbench
