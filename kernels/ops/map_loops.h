// The loops of a Map, simplified in the same way for every backend: loops are in the order of
// memory, neighbouring loops are merged if the strides of all operands allow it, and coordinates
// are operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/ops/map.h"

namespace parbench {

/// An operand of a loop: an argument of the operation, or a coordinate, whose element at position p
/// is p.
struct MapOperand {
  bool is_coordinate = false;
  // index in Map::inputs, or the number of inputs for the output; unused for coordinates
  std::size_t argument = 0;
  DType dtype = DType::f32;
  std::int64_t offset = 0;  // index of the first element
};

/// Maximum number of operands: inputs, coordinates, the output, and its old values if results are
/// added to them.
inline constexpr std::size_t max_map_operands = Map::max_inputs + Map::max_dimensions + 2;

struct MapLoop {
  std::int64_t extent = 1;
  bool is_reduced = false;
  std::array<std::int64_t, max_map_operands> strides = {};  // by operand
};

struct MapLoops {
  std::vector<MapLoop> loops;        // innermost first; at least one
  std::vector<MapOperand> operands;  // the last one is the output
  /// Program in which coordinates are inputs. Includes the accumulation, unless there is a
  /// reduction.
  ElementProgram program;
  Reduction reduction = Reduction::none;  // none if no loop is reduced
  bool accumulate = false;

  [[nodiscard]] std::size_t output() const { return operands.size() - 1; }
  /// Returns the product of the extents of the reduced loops, or of the other loops.
  [[nodiscard]] std::int64_t elements(bool is_reduced) const;
};

/// Returns the loops of a description that `check` accepts.
[[nodiscard]] MapLoops map_loops(const Map& desc);

/// Registers for the results of instructions. A result occupies its register until its last read.
struct ResultRegisters {
  // by instruction; unspecified for instructions that are not kept
  std::vector<std::size_t> register_of;
  std::size_t count = 0;
};

/// Assigns registers to the results of the instructions for which `is_kept` is true. An instruction
/// may take the register of one of its operands if no later instruction reads that operand.
[[nodiscard]] ResultRegisters result_registers(const ElementProgram& program,
                                               const std::vector<bool>& is_kept);

}  // namespace parbench
