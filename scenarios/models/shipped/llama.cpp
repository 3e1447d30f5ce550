// Decoder-only transformers like Llama.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/composed_kinds.h"
#include "scenarios/models/shipped/experts.h"
#include "scenarios/models/shipped/transformer_parts.h"

namespace parbench {
namespace {

void check_sizes(const LlamaSizes& sizes) {
  check_heads(sizes.hidden, sizes.heads);
  if (sizes.heads % sizes.kv_heads != 0) {
    throw std::invalid_argument(fmt::format("--kv-heads {} does not divide --heads {}; choose {}",
                                            sizes.kv_heads, sizes.heads,
                                            std::gcd(sizes.kv_heads, sizes.heads)));
  }
  if (sizes.hidden / sizes.heads % 2 != 0) {
    throw std::invalid_argument(
        fmt::format("heads of {} features have no pairs for rotary positions; choose --hidden as "
                    "an even multiple of --heads",
                    sizes.hidden / sizes.heads));
  }
  if (sizes.experts == 0) return;
  if (sizes.experts < 2 || 2 * sizes.sequence % sizes.experts != 0) {
    throw std::invalid_argument(
        fmt::format("--experts {} cannot share {} tokens equally, each of which takes two; choose "
                    "{}, or another --sequence",
                    sizes.experts, sizes.sequence,
                    std::max(std::gcd(sizes.experts, 2 * sizes.sequence), std::int64_t{2})));
  }
}

/// Returns the inner width of a perceptron.
std::int64_t expanded(const LlamaSizes& sizes) {
  constexpr std::int64_t multiple = 64;
  const auto width =
      static_cast<std::int64_t>(std::ceil(sizes.expansion * static_cast<double>(sizes.hidden)));
  return (width + multiple - 1) / multiple * multiple;
}

/// Appends blocks, which share the objects of their composed layer kinds.
class LlamaBlocks {
 public:
  LlamaBlocks(Network& net, const LlamaSizes& sizes)
      : net_(net),
        sizes_(sizes),
        norm_(shared(rms_norm({sizes.sequence, sizes.hidden}, 1e-5F))),
        rotary_(shared(rotary_projections({.sequence = sizes.sequence,
                                           .heads = sizes.heads,
                                           .kv_heads = sizes.kv_heads,
                                           .head_size = sizes.hidden / sizes.heads,
                                           .base = sizes.rotary_base}))),
        gate_(shared(gated_silu({sizes.sequence, 2 * expanded(sizes)}))) {}

  int normalised(const std::string& name, int x) { return net_.add_shared(name, norm_, {x}); }

  /// Appends a block and returns its last layer. `number`: index of the block, which selects the
  /// routes to its experts.
  int add(const std::string& name, std::int64_t number, int input) {
    const int middle = add_attention(name + ".", input);
    return sizes_.experts > 0 ? add_experts(name + ".", number, middle)
                              : add_perceptron(name + ".", middle);
  }

 private:
  static std::shared_ptr<const Composition> shared(Composition kind) {
    return std::make_shared<const Composition>(std::move(kind));
  }

  int add_attention(const std::string& name, int input) {
    const std::int64_t projections = sizes_.heads + 2 * sizes_.kv_heads;
    int x = normalised(name + "input_layernorm", input);
    x = net_.add(name + "self_attn.qkv_proj",
                 Linear(projections * sizes_.hidden / sizes_.heads, false), {x});
    x = net_.add_shared(name + "self_attn.rotary", rotary_, {x});
    x = net_.add(name + "self_attn", SelfAttention(sizes_.heads), {x});
    x = net_.add(name + "self_attn.o_proj", Linear(sizes_.hidden, false), {x});
    return net_.add(name + "residual_1", Addition(), {input, x});
  }

  int add_perceptron(const std::string& name, int input) {
    int x = normalised(name + "post_attention_layernorm", input);
    x = net_.add(name + "mlp.gate_up_proj", Linear(2 * expanded(sizes_), false), {x});
    x = net_.add_shared(name + "mlp.act", gate_, {x});
    x = net_.add(name + "mlp.down_proj", Linear(sizes_.hidden, false), {x});
    return net_.add(name + "residual_2", Addition(), {input, x});
  }

  int add_experts(const std::string& name, std::int64_t number, int input) {
    const ExpertSizes experts{.sequence = sizes_.sequence,
                              .hidden = sizes_.hidden,
                              .expanded = expanded(sizes_),
                              .experts = sizes_.experts};
    const Routes routes = balanced_routes(experts, static_cast<std::uint64_t>(number));
    const int x = normalised(name + "post_attention_layernorm", input);
    const int router = net_.add(name + "mlp.gate", Linear(sizes_.experts, false), {x});
    const int mixed =
        net_.add(name + "mlp.experts", mixture_of_experts(experts, routes), {x, router});
    return net_.add(name + "residual_2", Addition(), {input, mixed});
  }

  Network& net_;
  const LlamaSizes& sizes_;
  std::shared_ptr<const Composition> norm_;
  std::shared_ptr<const Composition> rotary_;
  std::shared_ptr<const Composition> gate_;
};

}  // namespace

Network llama(const LlamaSizes& sizes) {
  constexpr float deviation = 0.02F;  // standard deviation of embeddings
  check_sizes(sizes);
  Network net = network_of_tokens(
      fmt::format(
          "{} of {} layers of {} with {} heads on {} of keys and values, {}{} tokens of {}{}",
          sizes.experts > 0 ? "mixtral" : "llama", sizes.layers, sizes.hidden, sizes.heads,
          sizes.kv_heads, sizes.experts > 0 ? fmt::format("{} experts, ", sizes.experts) : "",
          sizes.sequence, sizes.vocabulary, sizes.tied_head ? ", tied head" : ""),
      sizes.sequence, sizes.vocabulary);
  const int table = net.add("embed_tokens", Embedding(sizes.vocabulary, sizes.hidden, deviation),
                            {network_input});
  LlamaBlocks blocks(net, sizes);
  int x = table;
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("layers.{}", i);
    net.unit(name);
    x = blocks.add(name, i, x);
  }
  net.unit("head");
  x = blocks.normalised("norm", x);
  x = net.add("lm_head", Linear(sizes.vocabulary, false), {x});
  if (sizes.tied_head) net.tie(x, table);
  return net;
}

}  // namespace parbench
