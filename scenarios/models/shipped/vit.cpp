// Vision transformers.
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "scenarios/models/shipped/composed_kinds.h"
#include "scenarios/models/shipped/transformer_parts.h"

namespace parbench {

Network vit(const VitSizes& sizes) {
  constexpr std::int64_t patch = 16;
  const BlockKind block{
      .heads = sizes.heads, .causal = false, .function = ActivationKind::gelu, .epsilon = 1e-6F};
  if (sizes.image % patch != 0) {
    throw std::invalid_argument(
        fmt::format("--image {} is not a multiple of the patches' size, {}", sizes.image, patch));
  }
  check_heads(sizes.hidden, sizes.heads);
  Network net;
  net.name = fmt::format("vit of {} layers of {} with {} heads, patches of {}", sizes.layers,
                         sizes.hidden, sizes.heads, patch);
  net.input = {3, sizes.image, sizes.image};
  net.unit("patches");
  int x = net.add("conv_proj",
                  Convolution({.out_channels = sizes.hidden,
                               .window = {.kernel = patch, .stride = patch},
                               .bias = true}),
                  {network_input});
  x = net.add("tokens", class_token_and_positions(net.shape_of(x)), {x});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("layers.{}", i);
    net.unit(name);
    x = add_attention_part(net, name + ".", block, x);
    x = add_perceptron_part(net, name + ".", block, x);
  }
  net.unit("head");
  x = net.add("class_token", first_row(net.shape_of(x)), {x});
  x = net.add("ln", LayerNorm(block.epsilon), {x});
  net.add("head", Linear(image_classes), {x});
  return net;
}

}  // namespace parbench
