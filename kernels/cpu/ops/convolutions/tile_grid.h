// How Winograd's algorithm divides images into tiles, and what all of its passes share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/ops/convolutions/outer_products.h"
#include "kernels/cpu/ops/convolutions/winograd_transforms.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {

/// Matrices of the 36 products lie this much further apart than their size, which is often a power
/// of two: their elements for a tile would share few sets of the caches.
inline constexpr std::int64_t floats_between = 16;
/// Tiles that lie together, an octet: the factors of an outer product.
inline constexpr std::int64_t octet = vector_width;
/// Floats of a block of channels of an octet, and of the weights between two blocks of channels.
inline constexpr std::int64_t square = vector_width * vector_width;

/// Images in blocks of channels.
struct BlockedImages {
  std::int64_t blocks = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;

  [[nodiscard]] std::int64_t row_step() const { return width * vector_width; }
  [[nodiscard]] std::int64_t offset(std::int64_t image, std::int64_t block) const {
    return (image * blocks + block) * height * row_step();
  }
  /// The part inside of an image of a square of `extent` positions that begins at (top, left).
  [[nodiscard]] TilePart part_inside(std::int64_t top, std::int64_t left,
                                     std::int64_t extent) const {
    return {std::max<std::int64_t>(0, -top), std::min(extent, height - top),
            std::max<std::int64_t>(0, -left), std::min(extent, width - left)};
  }
};

/// A tile of the output.
struct TilePlace {
  std::int64_t image = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
};

/// The tiles of a batch.
struct TileGrid {
  TileGrid(std::int64_t batch, const BlockedImages& outputs)
      : rows((outputs.height + tile_outputs - 1) / tile_outputs),
        columns((outputs.width + tile_outputs - 1) / tile_outputs),
        count(batch * rows * columns) {}

  [[nodiscard]] TilePlace at(std::int64_t index) const {
    const std::int64_t line = index / columns;
    return {line / rows, line % rows * tile_outputs, index % columns * tile_outputs};
  }
  /// Tiles in each of as few equal parts as have at most `max_tiles`, which is at least an octet.
  [[nodiscard]] std::int64_t chunk(std::int64_t max_tiles) const;

  std::int64_t rows;  // of an image
  std::int64_t columns;
  std::int64_t count;
};

inline std::int64_t octets_of(std::int64_t tiles) { return (tiles + octet - 1) / octet; }

inline std::int64_t TileGrid::chunk(std::int64_t max_tiles) const {
  const std::int64_t fitting = std::max<std::int64_t>(1, max_tiles / octet) * octet;
  const std::int64_t chunks = (count + fitting - 1) / fitting;
  return octets_of((count + chunks - 1) / chunks) * octet;
}

/// Blocks of channels in groups of one to three, as an outer product takes them.
struct BlockGroups {
  explicit BlockGroups(std::int64_t block_count)
      : blocks(block_count), count((block_count + max_vectors - 1) / max_vectors) {}

  [[nodiscard]] std::int64_t first(std::int64_t group) const { return group * blocks / count; }
  [[nodiscard]] std::int64_t size(std::int64_t group) const {
    return first(group + 1) - first(group);
  }

  std::int64_t blocks;
  std::int64_t count;
};

/// Calls body(i) for i in [0, count), in parallel where that pays; `cost` is the work of a call in
/// elements.
template <class Body>
void for_each_item(std::int64_t count, std::int64_t cost, int threads, const Body& body) {
  const auto grain = static_cast<std::size_t>(cost);
  parallel_ranges(static_cast<std::size_t>(count) * grain, grain, threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; i += grain) {
                      body(static_cast<std::int64_t>(i / grain));
                    }
                  });
}

/// Tiles of a batch, and where their transformed values go: for each product a matrix of
/// [octet][block][tile][channel], `step` floats from the one before.
struct SourceTiles {
  BlockedImages images;
  std::int64_t padding = 0;
  const float* source = nullptr;
  float* to = nullptr;
  std::int64_t step = 0;
};

/// Transforms the octets of `count` tiles from `first` on. The last octet may have fewer tiles, and
/// repeats the last one.
void transform_sources(const TileGrid& grid, const SourceTiles& tiles, std::int64_t first,
                       std::int64_t count, int threads);

}  // namespace parbench::cpu
