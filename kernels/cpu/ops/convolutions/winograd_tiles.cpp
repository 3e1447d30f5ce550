// Forward and backward-data convolutions by Winograd's algorithm F(4×4, 3×3) on processors with
// AVX2, where oneDNN has no kernel for it: 36 products of matrices instead of 144 multiplications
// for each tile of 4×4 outputs and pair of channels.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/ops/convolutions/tile_grid.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

// What a pass reads and writes. Backward, they are exchanged and the window is turned around.
struct TiledPass {
  explicit TiledPass(const ConvolutionShape& shape, bool is_backward)
      : from{shape.in_channels / vector_width, shape.height, shape.width},
        to{shape.out_channels / vector_width, shape.out_height(), shape.out_width()},
        padding(is_backward ? shape.kernel - 1 - shape.padding : shape.padding),
        turned(is_backward) {
    if (is_backward) std::swap(from, to);
  }

  BlockedImages from;
  BlockedImages to;
  std::int64_t padding;
  bool turned;
};

class TiledConvolution final : public CpuOp {
 public:
  TiledConvolution(const OpDesc& desc, const ConvolutionShape& shape, bool is_backward)
      : CpuOp(desc),
        pass_(shape, is_backward),
        grid_(shape.batch, pass_.to),
        groups_(pass_.to.blocks) {
    place_scratch();
    set_implementation("winograd_4x3:avx2");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const Work work{.threads = execution.threads,
                    .weights = floats(execution.scratch + weights_scratch_),
                    .sources = floats(execution.scratch + sources_scratch_),
                    .sums = floats(execution.scratch + sums_scratch_)};
    transform_all_weights(work, floats(arguments[1]));
    const SourceTiles tiles{.images = pass_.from,
                            .padding = pass_.padding,
                            .source = floats(arguments[0]),
                            .to = work.sources,
                            .step = sources_step_};
    for (std::int64_t first = 0; first < grid_.count; first += chunk_) {
      const std::int64_t count = std::min(chunk_, grid_.count - first);
      transform_sources(grid_, tiles, first, count, work.threads);
      multiply(work, count);
      transform_all_sums(work, floats(arguments[2]), first, count);
    }
  }

 private:
  // Transformed values in scratch memory, a matrix for each product.
  struct Work {
    int threads;
    float* weights;  // [group of output blocks][input channel][output channel of the group]
    float* sources;  // [octet][input block][tile][channel]
    float* sums;     // [octet][output block][tile][channel]
  };

  void place_scratch() {
    constexpr std::int64_t max_floats = std::int64_t{1} << 20;  // of the tiles of a chunk
    const std::int64_t blocks = pass_.from.blocks + pass_.to.blocks;
    chunk_ = grid_.chunk(max_floats / (tile_products * blocks * vector_width));
    weights_step_ = pass_.from.blocks * pass_.to.blocks * square + floats_between;
    sources_step_ = chunk_ * pass_.from.blocks * vector_width + floats_between;
    sums_step_ = chunk_ * pass_.to.blocks * vector_width + floats_between;
    const auto add_matrices = [&](std::int64_t step) {
      return add_scratch(static_cast<std::size_t>(tile_products * step) * sizeof(float));
    };
    weights_scratch_ = add_matrices(weights_step_);
    sources_scratch_ = add_matrices(sources_step_);
    sums_scratch_ = add_matrices(sums_step_);
  }

  [[nodiscard]] std::int64_t group_offset(std::int64_t group) const {
    return groups_.first(group) * pass_.from.blocks * square;
  }

  void transform_all_weights(const Work& work, const float* weights) const {
    const std::int64_t inputs = pass_.from.blocks;
    for_each_item(groups_.count * inputs, tile_products * square, work.threads,
                  [&](std::int64_t i) { transform_group(work, weights, i / inputs, i % inputs); });
  }

  // For a block of input channels.
  void transform_group(const Work& work, const float* weights, std::int64_t group,
                       std::int64_t input) const {
    constexpr std::int64_t last_tap = 8;
    const std::int64_t count = groups_.size(group);
    float* to = work.weights + group_offset(group) + input * count * square;
    for (std::int64_t b = 0; b < count; ++b) {
      const std::int64_t output = groups_.first(group) + b;
      const std::int64_t block =
          pass_.turned ? input * pass_.to.blocks + output : output * pass_.from.blocks + input;
      const float* taps = weights + block * (last_tap + 1) * square;
      if (pass_.turned) taps += last_tap * square;
      for (std::int64_t channel = 0; channel < vector_width; ++channel) {
        transform_weights(taps + channel * vector_width, pass_.turned ? -square : square,
                          to + (channel * count + b) * vector_width, weights_step_);
      }
    }
  }

  void multiply(const Work& work, std::int64_t tiles) const {
    for_each_item(tile_products * groups_.count, tiles * pass_.from.blocks * vector_width,
                  work.threads, [&](std::int64_t i) {
                    multiply_group(work, i / groups_.count, i % groups_.count, octets_of(tiles));
                  });
  }

  void multiply_group(const Work& work, std::int64_t product, std::int64_t group,
                      std::int64_t octets) const {
    const std::int64_t count = groups_.size(group);
    const float* sources = work.sources + product * sources_step_;
    float* sums = work.sums + product * sums_step_ + groups_.first(group) * square;
    for (std::int64_t i = 0; i < octets; ++i) {
      sum_outer_products({.factors = sources + i * pass_.from.blocks * square,
                          .factor_step = vector_width,
                          .vectors = work.weights + product * weights_step_ + group_offset(group),
                          .vector_count = count,
                          .sums = sums + i * pass_.to.blocks * square,
                          .sum_step = square,
                          .rows = {pass_.from.blocks, square, count * square},
                          .columns = {vector_width, 1}});
    }
  }

  void transform_all_sums(const Work& work, float* destination, std::int64_t first,
                          std::int64_t count) const {
    const BlockedImages& images = pass_.to;
    for_each_item(count, images.blocks * square, work.threads, [&](std::int64_t tile) {
      const TilePlace place = grid_.at(first + tile);
      const TilePart inside = images.part_inside(place.top, place.left, tile_outputs);
      const float* sums =
          work.sums + tile / octet * images.blocks * square + tile % octet * vector_width;
      for (std::int64_t block = 0; block < images.blocks; ++block) {
        const std::int64_t corner = images.offset(place.image, block) +
                                    place.top * images.row_step() + place.left * vector_width;
        transform_sums(sums + block * square, sums_step_, destination + corner, images.row_step(),
                       inside);
      }
    });
  }

  TiledPass pass_;
  TileGrid grid_;
  BlockGroups groups_;      // of output channels
  std::int64_t chunk_ = 0;  // tiles that are transformed and multiplied together
  // Floats from a matrix to the next.
  std::int64_t weights_step_ = 0;
  std::int64_t sources_step_ = 0;
  std::int64_t sums_step_ = 0;
  // Where they begin in the scratch memory.
  std::size_t weights_scratch_ = 0;
  std::size_t sources_scratch_ = 0;
  std::size_t sums_scratch_ = 0;
};

TensorDesc tile_tensor(const Shape& shape, memory::format_tag layout) {
  return describe({shape, memory::data_type::f32, layout});
}

}  // namespace

Planned plan_in_tiles(const ConvolutionForward& desc) {
  auto op = std::make_unique<TiledConvolution>(desc, desc.shape, false);
  op->add_tensor(tile_tensor(desc.shape.source(), memory::format_tag::nChw8c));
  op->add_tensor(tile_tensor(desc.shape.weights(), memory::format_tag::OIhw8i8o));
  op->add_tensor(tile_tensor(desc.shape.destination(), memory::format_tag::nChw8c));
  return op;
}

Planned plan_in_tiles(const ConvolutionBackwardData& desc) {
  auto op = std::make_unique<TiledConvolution>(desc, desc.shape, true);
  op->add_tensor(tile_tensor(desc.shape.destination(), memory::format_tag::nChw8c));
  op->add_tensor(tile_tensor(desc.shape.weights(), memory::format_tag::OIhw8o8i));
  op->add_tensor(tile_tensor(desc.shape.source(), memory::format_tag::nChw8c));
  return op;
}

}  // namespace parbench::cpu
