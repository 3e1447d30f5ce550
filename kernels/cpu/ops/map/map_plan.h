// How a processor runs a Map: in tiles, of which each step's results are a block in the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/ops/map/tiles.h"
#include "kernels/ops/map_loops.h"

namespace parbench::cpu {

/// Where the results of a step are for a tile.
enum class StepPlace : std::uint8_t {
  uniform,  // one number, which all elements of the tile have
  memory,   // in the input, whose elements lie as in a block
  block,    // in a block of its own
  output    // in the output, whose elements lie as in a block
};

struct PlacedStep {
  ElementStep step;
  StepPlace place = StepPlace::block;
  std::size_t block = 0;
};

/// Part of the elements of a Map: for each loop where it begins.
using TileStart = std::array<std::int64_t, Map::max_rank>;

class MapPlan {
 public:
  explicit MapPlan(const Map& desc);

  /// Elements of all blocks that a thread needs.
  static constexpr std::size_t max_block_elements = 16384;
  /// Results of a tile that is reduced, at most.
  static constexpr std::size_t max_totals = 8192;

  [[nodiscard]] const MapLoops& loops() const { return loops_; }
  [[nodiscard]] const std::vector<PlacedStep>& steps() const { return steps_; }
  /// Elements of a block; the one at `work_block` is for results that are reduced, or that all
  /// elements have.
  [[nodiscard]] std::size_t block_elements() const { return block_elements_; }
  [[nodiscard]] std::size_t work_block() const { return blocks_ - 1; }
  /// Whether the results are the elements of one input of the output's type, in rows.
  [[nodiscard]] bool is_copy() const { return is_copy_; }
  [[nodiscard]] const std::array<bool, tile_rank>& is_reduced() const { return is_reduced_; }

  /// How many tiles the loops have that are reduced, or the others.
  [[nodiscard]] std::int64_t tiles(bool reduced) const;
  /// Elements of a whole tile in the loops that are kept.
  [[nodiscard]] std::int64_t kept_elements() const;
  [[nodiscard]] std::int64_t tile_elements() const { return element_count(tile_); }
  /// Sets the loops that are reduced, or the others, to their beginning in the tile of that index.
  void seek(TileStart& start, std::int64_t tile, bool reduced) const;
  /// The extents of the tile that begins there.
  [[nodiscard]] TileExtents extents_at(const TileStart& start) const;
  [[nodiscard]] std::int64_t position(std::size_t operand, const TileStart& start) const;
  [[nodiscard]] const TileStrides& strides(std::size_t operand) const {
    return strides_.at(operand);
  }

 private:
  void order_loops();
  [[nodiscard]] bool has_columns() const;
  [[nodiscard]] std::int64_t flat_limit() const;
  void choose_tile(std::int64_t elements);
  void place_steps();
  void allocate_blocks();
  [[nodiscard]] StepPlace place_of(std::size_t index) const;
  [[nodiscard]] bool is_like_block(std::size_t operand) const;
  [[nodiscard]] std::int64_t tile_extent(std::size_t loop) const;

  MapLoops loops_;
  bool is_transposed_ = false;
  bool is_copy_ = false;
  TileExtents tile_ = {1, 1, 1};
  std::array<bool, tile_rank> is_reduced_ = {};
  std::array<TileStrides, max_map_operands> strides_ = {};
  std::vector<PlacedStep> steps_;
  std::size_t blocks_ = 0;
  std::size_t block_elements_ = 0;
};

}  // namespace parbench::cpu
