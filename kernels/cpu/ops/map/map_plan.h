// Plan of a Map on a processor: loops are divided into tiles. The results of an instruction for a
// tile are in a block of memory that stays in a cache, or at another ResultLocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/ops/map/tiles.h"
#include "kernels/ops/map_loops.h"

namespace parbench::cpu {

/// Location of an instruction's results for a tile.
enum class ResultLocation : std::uint8_t {
  uniform,  // one number for all elements of the tile
  memory,   // in the input that the instruction loads, if the input is laid out as a block
  block,    // in a block, which may be that of an operand
  output    // in the output, if the output is laid out as a block
};

struct LocatedInstruction {
  ElementInstruction instruction;
  ResultLocation location = ResultLocation::block;
  std::size_t block = 0;
};

/// The first position of a tile in each loop.
using TileStart = std::array<std::int64_t, Map::max_dimensions>;

class MapPlan {
 public:
  explicit MapPlan(const Map& desc);

  /// Maximum number of elements in all blocks of a thread.
  static constexpr std::size_t max_block_elements = 16384;
  /// Maximum number of results of a tile that is reduced.
  static constexpr std::size_t max_totals = 8192;

  [[nodiscard]] const MapLoops& loops() const { return loops_; }
  [[nodiscard]] const std::vector<LocatedInstruction>& instructions() const {
    return instructions_;
  }
  /// Number of elements of a block. The block at `work_block` is for results that are reduced, or
  /// for a final result that is the same for all elements.
  [[nodiscard]] std::size_t block_elements() const { return block_elements_; }
  [[nodiscard]] std::size_t work_block() const { return blocks_ - 1; }
  /// Returns whether the Map only copies an input of the output's type whose rows, like those of
  /// the output, are contiguous.
  [[nodiscard]] bool is_copy() const { return is_copy_; }
  [[nodiscard]] const std::array<bool, tile_dimensions>& is_reduced() const { return is_reduced_; }

  /// Returns the number of tiles of the reduced loops, or of the other loops.
  [[nodiscard]] std::int64_t tiles(bool reduced) const;
  /// Returns the number of elements of a whole tile in the loops that are not reduced.
  [[nodiscard]] std::int64_t kept_elements() const;
  [[nodiscard]] std::int64_t tile_elements() const { return element_count(tile_); }
  /// Sets the reduced loops, or the other loops, in `start` to the first position of the tile with
  /// that index.
  void seek(TileStart& start, std::int64_t tile, bool reduced) const;
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
  void locate_instructions();
  void allocate_blocks();
  [[nodiscard]] ResultLocation location_of(std::size_t index) const;
  [[nodiscard]] bool is_like_block(std::size_t operand) const;
  [[nodiscard]] std::int64_t tile_extent(std::size_t loop) const;

  MapLoops loops_;
  bool is_transposed_ = false;
  bool is_copy_ = false;
  TileExtents tile_ = {1, 1, 1};
  std::array<bool, tile_dimensions> is_reduced_ = {};
  std::array<TileStrides, max_map_operands> strides_ = {};
  std::vector<LocatedInstruction> instructions_;
  std::size_t blocks_ = 0;
  std::size_t block_elements_ = 0;
};

}  // namespace parbench::cpu
