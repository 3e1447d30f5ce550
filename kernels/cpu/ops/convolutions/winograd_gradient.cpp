// The gradient of a convolution's weights by Winograd's algorithm F(4×4, 3×3) on processors with
// AVX2: the transposes of the forward pass's transforms, and products over the tiles of the batch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/ops/convolutions/tile_grid.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

class TiledGradient final : public CpuOp {
 public:
  explicit TiledGradient(const ConvolutionBackwardWeights& desc)
      : CpuOp(desc),
        accumulate_(desc.accumulate),
        padding_(desc.shape.padding),
        source_{desc.shape.in_channels / vector_width, desc.shape.height, desc.shape.width},
        gradient_{desc.shape.out_channels / vector_width, desc.shape.out_height(),
                  desc.shape.out_width()},
        grid_(desc.shape.batch, gradient_),
        groups_(gradient_.blocks) {
    const auto add = [&](const Shape& shape, memory::format_tag layout) {
      add_tensor(describe({shape, memory::data_type::f32, layout}));
    };
    add(desc.shape.source(), memory::format_tag::nChw8c);
    add(desc.shape.destination(), memory::format_tag::nChw8c);
    add(desc.shape.weights(), memory::format_tag::OIhw8i8o);
    place_scratch();
    set_implementation("winograd_4x3:avx2");
  }

  // A sum is taken in one thread, in the order of the tiles: the number of threads changes no bit.
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const Work work{.threads = execution.threads,
                    .sources = floats(execution.scratch + sources_scratch_),
                    .gradients = floats(execution.scratch + gradients_scratch_),
                    .sums = floats(execution.scratch + sums_scratch_)};
    const SourceTiles tiles{.images = source_,
                            .padding = padding_,
                            .source = floats(arguments[0]),
                            .to = work.sources,
                            .step = sources_step_};
    for (std::int64_t first = 0; first < grid_.count; first += chunk_) {
      const std::int64_t count = std::min(chunk_, grid_.count - first);
      transform_sources(grid_, tiles, first, count, work.threads);
      transform_gradients(work, floats(arguments[1]), first, count);
      multiply(work, count);
      transform_all_sums(work, floats(arguments[2]), accumulate_ || first > 0);
    }
  }

 private:
  // Transformed values in scratch memory, a matrix for each product.
  struct Work {
    int threads;
    float* sources;    // [octet][input block][tile][channel]
    float* gradients;  // [octet][group of output blocks][tile][channel of the group]
    float* sums;       // [output block][input block][input channel][output channel]
  };

  void place_scratch() {
    const std::int64_t weights = source_.blocks * gradient_.blocks * square;
    // Every chunk passes over all sums. Few tiles in a chunk keep sums short, which rounds less.
    constexpr std::int64_t max_tiles = 256;
    const std::int64_t max_floats = std::max(std::int64_t{1} << 20, tile_products * weights);
    const std::int64_t blocks = source_.blocks + gradient_.blocks;
    chunk_ = grid_.chunk(std::min(max_tiles, max_floats / (tile_products * blocks * vector_width)));
    sources_step_ = chunk_ * source_.blocks * vector_width + floats_between;
    gradients_step_ = chunk_ * gradient_.blocks * vector_width + floats_between;
    sums_step_ = weights + floats_between;
    const auto add_matrices = [&](std::int64_t step) {
      return add_scratch(static_cast<std::size_t>(tile_products * step) * sizeof(float));
    };
    sources_scratch_ = add_matrices(sources_step_);
    gradients_scratch_ = add_matrices(gradients_step_);
    sums_scratch_ = add_matrices(sums_step_);
  }

  // What is missing of the last octet adds zeros.
  void transform_gradients(const Work& work, const float* gradient, std::int64_t first,
                           std::int64_t count) const {
    for_each_item(octets_of(count) * octet, gradient_.blocks * square, work.threads,
                  [&](std::int64_t tile) {
                    const TilePlace place = grid_.at(std::min(first + tile, grid_.count - 1));
                    TilePart inside = gradient_.part_inside(place.top, place.left, tile_outputs);
                    if (tile >= count) inside = {};
                    for (std::int64_t group = 0; group < groups_.count; ++group) {
                      transform_group(work, gradient, place, inside, tile, group);
                    }
                  });
  }

  void transform_group(const Work& work, const float* gradient, const TilePlace& place,
                       const TilePart& inside, std::int64_t tile, std::int64_t group) const {
    const std::int64_t begin = groups_.first(group);
    const std::int64_t count = groups_.size(group);
    float* to = work.gradients + (tile / octet * gradient_.blocks + begin) * square +
                tile % octet * count * vector_width;
    for (std::int64_t b = 0; b < count; ++b) {
      const std::int64_t corner = gradient_.offset(place.image, begin + b) +
                                  place.top * gradient_.row_step() + place.left * vector_width;
      transform_gradient(gradient + corner, gradient_.row_step(), inside, to + b * vector_width,
                         gradients_step_);
    }
  }

  void multiply(const Work& work, std::int64_t tiles) const {
    for_each_item(tile_products * groups_.count, tiles * source_.blocks * vector_width,
                  work.threads, [&](std::int64_t i) {
                    multiply_group(work, i / groups_.count, i % groups_.count, octets_of(tiles));
                  });
  }

  void multiply_group(const Work& work, std::int64_t product, std::int64_t group,
                      std::int64_t octets) const {
    const std::int64_t begin = groups_.first(group);
    const std::int64_t count = groups_.size(group);
    for (std::int64_t input = 0; input < source_.blocks; ++input) {
      sum_outer_products(
          {.factors = work.sources + product * sources_step_ + input * square,
           .vectors = work.gradients + product * gradients_step_ + begin * square,
           .vector_count = count,
           .sums = work.sums + product * sums_step_ + (begin * source_.blocks + input) * square,
           .sum_step = source_.blocks * square,
           .rows = {octets, source_.blocks * square, gradient_.blocks * square},
           .columns = {octet, vector_width}});
    }
  }

  void transform_all_sums(const Work& work, float* weights, bool adds) const {
    constexpr std::int64_t tap_count = 9;
    for_each_item(gradient_.blocks * source_.blocks, tile_products * square, work.threads,
                  [&](std::int64_t block) {
                    for (std::int64_t channel = 0; channel < vector_width; ++channel) {
                      const std::int64_t row = channel * vector_width;
                      transform_weight_sums(work.sums + block * square + row, sums_step_,
                                            weights + block * tap_count * square + row, square,
                                            adds);
                    }
                  });
  }

  bool accumulate_;
  std::int64_t padding_;
  BlockedImages source_;
  BlockedImages gradient_;
  TileGrid grid_;
  BlockGroups groups_;      // of output channels
  std::int64_t chunk_ = 0;  // tiles that are transformed and multiplied together
  // Floats from a matrix to the next.
  std::int64_t sources_step_ = 0;
  std::int64_t gradients_step_ = 0;
  std::int64_t sums_step_ = 0;
  // Where they begin in the scratch memory.
  std::size_t sources_scratch_ = 0;
  std::size_t gradients_scratch_ = 0;
  std::size_t sums_scratch_ = 0;
};

}  // namespace

Planned plan_in_tiles(const ConvolutionBackwardWeights& desc) {
  return std::make_unique<TiledGradient>(desc);
}

}  // namespace parbench::cpu
