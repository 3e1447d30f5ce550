// Transforms of sources, which forward passes and gradients of weights share.
#include "kernels/cpu/ops/convolutions/tile_grid.h"

namespace parbench::cpu {

void transform_sources(const TileGrid& grid, const SourceTiles& tiles, std::int64_t first,
                       std::int64_t count, int threads) {
  const BlockedImages& images = tiles.images;
  const std::int64_t octet_step = images.blocks * square;
  for_each_item(octets_of(count) * octet, octet_step, threads, [&](std::int64_t tile) {
    const TilePlace place = grid.at(std::min(first + tile, grid.count - 1));
    const std::int64_t top = place.top - tiles.padding;
    const std::int64_t left = place.left - tiles.padding;
    const TilePart inside = images.part_inside(top, left, tile_inputs);
    float* to = tiles.to + tile / octet * octet_step + tile % octet * vector_width;
    for (std::int64_t block = 0; block < images.blocks; ++block) {
      transform_source(tiles.source + images.offset(place.image, block),
                       top * images.row_step() + left * vector_width, images.row_step(), inside,
                       to + block * square, tiles.step);
    }
  });
}

}  // namespace parbench::cpu
