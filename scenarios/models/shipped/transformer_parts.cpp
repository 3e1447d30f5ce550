// Appends the layers of attention and of perceptrons.
#include "scenarios/models/shipped/transformer_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/layers/sequences.h"

namespace parbench {

Network network_of_tokens(std::string name, std::int64_t sequence, std::int64_t vocabulary) {
  Network net;
  net.name = std::move(name);
  net.input = {sequence};
  net.vocabulary = vocabulary;
  net.loss = Loss::cross_entropy;
  net.one_hot_target = false;
  net.unit("embedding");
  return net;
}

void check_heads(std::int64_t hidden, std::int64_t heads) {
  if (hidden % heads == 0) return;
  std::int64_t divisor = std::min(heads, hidden);
  while (hidden % divisor != 0) --divisor;
  for (std::int64_t other = heads + 1; other < 2 * heads - divisor; ++other) {
    if (hidden % other == 0) divisor = other;
  }
  throw std::invalid_argument(
      fmt::format("--heads {} does not divide --hidden {}; choose a divisor such as {}, or another "
                  "--hidden",
                  heads, hidden, divisor));
}

int add_attention(Network& net, const std::string& name, const BlockKind& kind, int input) {
  const std::int64_t hidden = net.shape_of(input).back();
  int x = net.add(name + "attn.c_attn", Linear(3 * hidden), {input});
  x = net.add(name + "attn", SelfAttention(kind.heads, kind.causal), {x});
  return net.add(name + "attn.c_proj", Linear(hidden), {x});
}

int add_perceptron(Network& net, const std::string& name, const BlockKind& kind, int input) {
  constexpr std::int64_t expansion = 4;
  const std::int64_t hidden = net.shape_of(input).back();
  int x = net.add(name + "mlp.c_fc", Linear(expansion * hidden), {input});
  x = net.add(name + "mlp.act", Activation(kind.function), {x});
  return net.add(name + "mlp.c_proj", Linear(hidden), {x});
}

int add_attention_part(Network& net, const std::string& name, const BlockKind& kind, int input) {
  int x = net.add(name + "ln_1", LayerNorm(kind.epsilon), {input});
  x = add_attention(net, name, kind, x);
  return net.add(name + "residual_1", Addition(), {input, x});
}

int add_perceptron_part(Network& net, const std::string& name, const BlockKind& kind, int input) {
  int x = net.add(name + "ln_2", LayerNorm(kind.epsilon), {input});
  x = add_perceptron(net, name, kind, x);
  return net.add(name + "residual_2", Addition(), {input, x});
}

}  // namespace parbench
