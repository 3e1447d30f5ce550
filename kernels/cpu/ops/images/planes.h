// Where channels lie in images, for loops of our own.
#pragma once

#include <cstddef>

#include "kernels/base/tensor.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {

/// Where the channels of an image lie in the layout of activations: in blocks, whose channels take
/// turns, or each by itself (blocks of one).
struct Planes {
  std::size_t channels;
  std::size_t pixels;
  std::size_t block;

  explicit Planes(const Shape& image)
      : channels(static_cast<std::size_t>(image[1])),
        pixels(static_cast<std::size_t>(image[2] * image[3])),
        block(image[1] % channel_block() == 0 ? static_cast<std::size_t>(channel_block()) : 1) {}

  [[nodiscard]] std::size_t blocks() const { return channels / block; }
  /// The place of a channel's first element; the others follow `block` elements apart.
  [[nodiscard]] std::size_t first(std::size_t sample, std::size_t channel) const {
    return (sample * channels + channel / block * block) * pixels + channel % block;
  }
};

}  // namespace parbench::cpu
