// The choice of tiles. Tiles have the largest of a few sizes with which a thread's blocks fit
// `max_block_elements`. They are wide if rows are contiguous, and square if an operand is
// transposed.
#include "kernels/cpu/ops/map/map_plan.h"

#include <algorithm>

namespace parbench::cpu {
namespace {

constexpr std::int64_t flat_elements = 16384;  // elements of tiles if no instruction needs a block
// elements of tiles if rows are reduced, with sums in f32
constexpr std::int64_t row_sum_elements = 4096;
// elements of tiles if columns are reduced, with pairwise sums
constexpr std::int64_t column_sum_elements = 8192;
constexpr std::int64_t block_limit = 1024;      // maximum number of elements of other tiles
constexpr std::int64_t square_elements = 4096;  // elements of tiles that are only transposed
constexpr std::int64_t wide_row = 256;          // minimum elements of tiles that consist of one row
// minimum extent with which a reduced loop stays innermost
constexpr std::int64_t min_reduced_row = 8;
constexpr std::int64_t min_rows_of_columns = 8;  // minimum rows of a tile if columns are reduced

void move_to(std::vector<MapLoop>& loops, std::size_t from, std::size_t to) {
  const MapLoop moved = loops[from];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(from));
  loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(to), moved);
}

/// Returns the first loop from `begin` on that `wanted` accepts, or the number of loops.
template <class Wanted>
std::size_t find_loop(const std::vector<MapLoop>& loops, std::size_t begin, const Wanted& wanted) {
  for (std::size_t i = begin; i < loops.size(); ++i) {
    if (wanted(loops[i])) return i;
  }
  return loops.size();
}

/// Returns a loop along which some input is contiguous although the same input is strided in the
/// innermost loop; the number of loops if there is none.
std::size_t transposed_loop(const MapLoops& all) {
  for (std::size_t i = 0; i < all.output(); ++i) {
    const std::int64_t stride = all.loops[0].strides.at(i);
    if (stride == 0 || stride == 1 || all.operands[i].is_coordinate) continue;
    const std::size_t found =
        find_loop(all.loops, 1, [&](const MapLoop& loop) { return loop.strides.at(i) == 1; });
    if (found < all.loops.size()) return found;
  }
  return all.loops.size();
}

}  // namespace

MapPlan::MapPlan(const Map& desc) : loops_(map_loops(desc)) {
  order_loops();
  const bool is_summed = loops_.reduction != Reduction::none;
  for (const std::int64_t elements :
       {flat_limit(), block_limit, block_limit / 2, block_limit / 4}) {
    choose_tile(elements);
    locate_instructions();
    allocate_blocks();
    block_elements_ = static_cast<std::size_t>(elements);
    const bool is_flat = blocks_ <= (is_summed || is_transposed_ ? 1U : 0U);
    const bool is_small = elements <= block_limit;
    if (is_flat || (is_small && blocks_ * block_elements_ <= max_block_elements)) break;
  }
  const MapOperand& output = loops_.operands.back();
  const ElementInstruction& first = loops_.program.front();
  const std::size_t source = first.op == ElementOp::input ? first.from[0] : loops_.output();
  is_copy_ = !is_summed && loops_.program.size() == 1 && source < loops_.output() &&
             !loops_.operands[source].is_coordinate &&
             loops_.operands[source].dtype == output.dtype && strides_.at(source)[0] == 1 &&
             strides_.at(loops_.output())[0] == 1;
}

/// Moves the loops of a tile to the front.
void MapPlan::order_loops() {
  std::vector<MapLoop>& loops = loops_.loops;
  const auto is_kept = [](const MapLoop& loop) { return !loop.is_reduced; };
  const auto is_reduced = [](const MapLoop& loop) { return loop.is_reduced; };
  if (loops[0].is_reduced && loops[0].extent < min_reduced_row) {
    const std::size_t kept = find_loop(loops, 1, is_kept);
    if (kept < loops.size()) move_to(loops, kept, 0);
  }
  std::size_t second = transposed_loop(loops_);
  is_transposed_ = second < loops.size();
  if (!is_transposed_ && !loops[0].is_reduced) second = find_loop(loops, 1, is_reduced);
  if (second < loops.size()) move_to(loops, second, 1);
}

bool MapPlan::has_columns() const {
  const std::vector<MapLoop>& loops = loops_.loops;
  return !loops[0].is_reduced && loops.size() > 1 && loops[1].is_reduced;
}

/// Returns the number of elements of a tile for a program whose instructions need no block, except
/// one for a reduction or a transposed operand.
std::int64_t MapPlan::flat_limit() const {
  if (is_transposed_) return square_elements;
  if (loops_.reduction == Reduction::none) return flat_elements;
  return has_columns() ? column_sum_elements : row_sum_elements;
}

void MapPlan::choose_tile(std::int64_t elements) {
  const std::vector<MapLoop>& loops = loops_.loops;
  const auto extent = [&](std::size_t i) { return i < loops.size() ? loops[i].extent : 1; };
  std::int64_t width = std::min(extent(0), elements);
  if (is_transposed_) width = std::min<std::int64_t>(width, elements >= square_elements ? 64 : 32);
  if (has_columns()) width = std::min(width, elements / min_rows_of_columns);
  std::int64_t height = std::min(extent(1), elements / width);
  const bool is_wide = width < extent(0) || (width >= wide_row && elements <= block_limit);
  if (!is_transposed_ && !has_columns() && is_wide) height = 1;
  if (is_transposed_ || has_columns()) width = std::min(extent(0), elements / height);
  const bool is_full = width == extent(0) && height == extent(1);
  tile_ = {width, height, is_full ? std::min(extent(2), elements / (width * height)) : 1};
  for (std::size_t i = 0; i < std::min(tile_dimensions, loops.size()); ++i) {
    is_reduced_.at(i) = loops[i].is_reduced;
    for (std::size_t k = 0; k < loops_.operands.size(); ++k) {
      strides_.at(k).at(i) = loops[i].strides.at(k);
    }
  }
}

/// Returns whether an operand is f32 and its elements in each tile are laid out as in a block.
bool MapPlan::is_like_block(std::size_t operand) const {
  const MapOperand& one = loops_.operands[operand];
  // Tiles at an edge are narrower, so the distance between their rows differs.
  const bool is_whole = (tile_[1] == 1 || tile_[0] == loops_.loops[0].extent) &&
                        (tile_[2] == 1 || tile_[1] == loops_.loops[1].extent);
  return is_whole && !one.is_coordinate && one.dtype == DType::f32 &&
         is_dense(tile_, strides_.at(operand));
}

ResultLocation MapPlan::location_of(std::size_t index) const {
  const ElementInstruction& instruction = instructions_[index].instruction;
  if (instruction.op == ElementOp::number) return ResultLocation::uniform;
  if (instruction.op == ElementOp::input) {
    const TileStrides& strides = strides_.at(instruction.from[0]);
    bool is_uniform = true;
    for (std::size_t i = 0; i < tile_dimensions; ++i) {
      is_uniform = is_uniform && (tile_.at(i) == 1 || strides.at(i) == 0);
    }
    if (is_uniform) return ResultLocation::uniform;
    return is_like_block(instruction.from[0]) ? ResultLocation::memory : ResultLocation::block;
  }
  for (std::size_t i = 0; i < operand_count(instruction.op); ++i) {
    if (instructions_[instruction.from.at(i)].location != ResultLocation::uniform)
      return ResultLocation::block;
  }
  return ResultLocation::uniform;
}

void MapPlan::locate_instructions() {
  instructions_.clear();
  for (const ElementInstruction& instruction : loops_.program) {
    instructions_.push_back({.instruction = instruction});
    instructions_.back().location = location_of(instructions_.size() - 1);
  }
  LocatedInstruction& last = instructions_.back();
  if (last.location == ResultLocation::block && loops_.reduction == Reduction::none &&
      is_like_block(loops_.output())) {
    last.location = ResultLocation::output;
  }
}

/// Assigns blocks to instructions. If results are reduced, or the final result is the same for all
/// elements, there is one more block for them, the last one (`work_block`).
void MapPlan::allocate_blocks() {
  std::vector<bool> is_kept;
  for (const LocatedInstruction& located : instructions_)
    is_kept.push_back(located.location == ResultLocation::block);
  const ResultRegisters registers = result_registers(loops_.program, is_kept);
  for (std::size_t i = 0; i < instructions_.size(); ++i)
    instructions_[i].block = registers.register_of[i];
  blocks_ = registers.count;
  if (loops_.reduction != Reduction::none ||
      instructions_.back().location == ResultLocation::uniform)
    ++blocks_;
}

std::int64_t MapPlan::tile_extent(std::size_t loop) const {
  return loop < tile_dimensions ? tile_.at(loop) : 1;
}

std::int64_t MapPlan::tiles(bool reduced) const {
  std::int64_t tiles = 1;
  for (std::size_t i = 0; i < loops_.loops.size(); ++i) {
    const MapLoop& loop = loops_.loops[i];
    if (loop.is_reduced == reduced) tiles *= (loop.extent - 1) / tile_extent(i) + 1;
  }
  return tiles;
}

std::int64_t MapPlan::kept_elements() const {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < tile_dimensions; ++i) elements *= is_reduced_.at(i) ? 1 : tile_.at(i);
  return elements;
}

/// With a transposed operand, loop 1 varies fastest, so that successive tiles are adjacent in that
/// operand's memory.
void MapPlan::seek(TileStart& start, std::int64_t tile, bool reduced) const {
  for (std::size_t i = 0; i < loops_.loops.size(); ++i) {
    const std::size_t next = is_transposed_ && i < 2 ? 1 - i : i;
    const MapLoop& loop = loops_.loops[next];
    if (loop.is_reduced != reduced) continue;
    const std::int64_t extent = tile_extent(next);
    const std::int64_t tiles = (loop.extent - 1) / extent + 1;
    start.at(next) = tile % tiles * extent;
    tile /= tiles;
  }
}

TileExtents MapPlan::extents_at(const TileStart& start) const {
  TileExtents extents = tile_;
  for (std::size_t i = 0; i < std::min(tile_dimensions, loops_.loops.size()); ++i) {
    extents.at(i) = std::min(extents.at(i), loops_.loops[i].extent - start.at(i));
  }
  return extents;
}

std::int64_t MapPlan::position(std::size_t operand, const TileStart& start) const {
  std::int64_t position = loops_.operands[operand].offset;
  for (std::size_t i = 0; i < loops_.loops.size(); ++i) {
    position += start.at(i) * loops_.loops[i].strides.at(operand);
  }
  return position;
}

}  // namespace parbench::cpu
