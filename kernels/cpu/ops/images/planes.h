// Positions of channels in images, for the loops of this project.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/tensor.h"
#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {

/// Positions of the channels of an image in the layout of activations: in blocks, with the channels
/// of a block interleaved; each channel separately (blocks of one channel); or last (all channels
/// in one block).
struct Planes {
  std::size_t channels;
  std::size_t pixels;
  std::size_t block;

  Planes(const Shape& image, DType dtype)
      : channels(static_cast<std::size_t>(image[1])),
        pixels(static_cast<std::size_t>(image[2] * image[3])),
        block(block_of(image[1], dtype)) {}

  /// Returns whether there are at least two channels and all channels of a pixel are adjacent.
  [[nodiscard]] bool is_channels_last() const { return channels > 1 && block == channels; }
  [[nodiscard]] std::size_t blocks() const { return channels / block; }
  /// Returns the index of a channel's first element; the others follow `block` elements apart.
  [[nodiscard]] std::size_t first(std::size_t sample, std::size_t channel) const {
    return (sample * channels + channel / block * block) * pixels + channel % block;
  }

 private:
  [[nodiscard]] static std::size_t block_of(std::int64_t channels, DType dtype) {
    const ChannelOrder order = channel_order(channels, dtype);
    if (order == ChannelOrder::last) return static_cast<std::size_t>(channels);
    return order == ChannelOrder::blocks ? static_cast<std::size_t>(channel_block()) : 1;
  }
};

}  // namespace parbench::cpu
