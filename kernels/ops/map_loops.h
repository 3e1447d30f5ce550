// The loops of a Map, simplified in the same way for every backend: dimensions in the order of
// memory, with neighbours merged where all operands allow it, and coordinates as operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/ops/map.h"

namespace parbench {

/// What a loop steps through: an argument of the operation, or a coordinate, whose element at
/// position p is p itself.
struct MapOperand {
  bool is_coordinate = false;
  std::size_t argument = 0;  // as Op::arguments() lists them, where it is no coordinate
  DType dtype = DType::f32;
  std::int64_t offset = 0;  // of the first element
};

/// Inputs, coordinates, the old output that is added to, and the output.
inline constexpr std::size_t max_map_operands = Map::max_inputs + Map::max_rank + 2;

struct MapLoop {
  std::int64_t extent = 1;
  bool is_reduced = false;
  std::array<std::int64_t, max_map_operands> strides = {};  // by operand
};

struct MapLoops {
  std::vector<MapLoop> loops;        // innermost first; at least one
  std::vector<MapOperand> operands;  // the last one is the output
  /// Steps read operands, never coordinates. Nothing is left to accumulate without a reduction.
  ElementProgram program;
  Reduction reduction = Reduction::none;  // none where no loop is reduced
  bool accumulate = false;

  [[nodiscard]] std::size_t output() const { return operands.size() - 1; }
  /// The product of the extents of the loops that are reduced, or of the others.
  [[nodiscard]] std::int64_t elements(bool is_reduced) const;
};

/// Needs a description that `check` accepts.
[[nodiscard]] MapLoops map_loops(const Map& desc);

/// Where the results of steps are kept until they are read for the last time.
struct ResultPlaces {
  std::vector<std::size_t> place_of;  // by step; unspecified for those that are not kept
  std::size_t count = 0;
};

/// Finds places for the results of those steps that `is_kept` names. A step may have the place of
/// an operand that nothing reads later.
[[nodiscard]] ResultPlaces result_places(const ElementProgram& program,
                                         const std::vector<bool>& is_kept);

}  // namespace parbench
