// Loops are sorted by the strides of one operand: the output or, for reductions, the largest input.
#include "kernels/ops/map_loops.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace parbench {
namespace {

void add_operand(MapLoops& all, const MapOperand& operand, const Shape& strides) {
  const std::size_t index = all.operands.size();
  all.operands.push_back(operand);
  for (std::size_t i = 0; i < strides.size(); ++i) all.loops[i].strides.at(index) = strides[i];
}

void add_argument(MapLoops& all, std::size_t argument, const StridedTensor& tensor) {
  add_operand(all, {.argument = argument, .dtype = tensor.dtype, .offset = tensor.offset},
              tensor.strides);
}

/// Adds an operand for each coordinate that instructions read.
void add_coordinates(MapLoops& all) {
  std::array<std::size_t, Map::max_dimensions> operand_of{};
  for (ElementInstruction& instruction : all.program) {
    if (instruction.op != ElementOp::coordinate) continue;
    std::size_t& operand = operand_of.at(instruction.from[0]);
    if (operand == 0) {
      Shape strides(all.loops.size());
      strides[instruction.from[0]] = 1;
      add_operand(all, {.is_coordinate = true}, strides);
      operand = all.operands.size();
    }
    instruction.op = ElementOp::input;
    instruction.from[0] = static_cast<std::uint8_t>(operand - 1);
  }
}

/// Appends instructions that add the old output to the result.
void add_old_output(MapLoops& all, const Map& desc) {
  const auto last = static_cast<std::uint8_t>(all.program.size() - 1);
  const auto operand = static_cast<std::uint8_t>(all.operands.size());
  add_argument(all, desc.inputs.size(), desc.output);
  all.program.push_back({.op = ElementOp::input, .from = {operand}});
  all.program.push_back(
      {.op = ElementOp::addition, .from = {static_cast<std::uint8_t>(last + 1), last}});
}

/// Returns the operand whose memory order the loops follow.
std::size_t leader(const MapLoops& all, const Map& desc) {
  if (all.reduction == Reduction::none || desc.inputs.empty()) return all.output();
  const auto elements = [&](const StridedTensor& input) {
    return named_elements(desc.extents, input);
  };
  const auto largest = std::ranges::max_element(desc.inputs, {}, elements);
  return static_cast<std::size_t>(largest - desc.inputs.begin());
}

void sort_loops(MapLoops& all, std::size_t leader) {
  const auto distance = [&](const MapLoop& loop) {
    const std::int64_t stride = std::abs(loop.strides.at(leader));
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
  };
  std::erase_if(all.loops, [](const MapLoop& loop) { return loop.extent == 1; });
  std::ranges::reverse(all.loops);
  std::ranges::stable_sort(all.loops, {}, distance);
}

bool is_continued(const MapLoop& inner, const MapLoop& outer) {
  if (inner.is_reduced != outer.is_reduced) return false;
  for (std::size_t i = 0; i < inner.strides.size(); ++i) {
    if (outer.strides.at(i) != inner.strides.at(i) * inner.extent) return false;
  }
  return true;
}

void merge_loops(MapLoops& all) {
  std::vector<MapLoop> merged;
  for (const MapLoop& loop : all.loops) {
    if (!merged.empty() && is_continued(merged.back(), loop)) {
      merged.back().extent *= loop.extent;
    } else {
      merged.push_back(loop);
    }
  }
  if (merged.empty()) merged.emplace_back();
  all.loops = std::move(merged);
}

}  // namespace

std::int64_t MapLoops::elements(bool is_reduced) const {
  std::int64_t product = 1;
  for (const MapLoop& loop : loops) product *= loop.is_reduced == is_reduced ? loop.extent : 1;
  return product;
}

MapLoops map_loops(const Map& desc) {
  MapLoops all;
  all.program = desc.program;
  const std::size_t kept = desc.extents.size() - static_cast<std::size_t>(desc.reduced);
  for (std::size_t i = 0; i < desc.extents.size(); ++i) {
    all.loops.push_back({.extent = desc.extents[i], .is_reduced = i >= kept});
  }
  for (std::size_t i = 0; i < desc.inputs.size(); ++i) add_argument(all, i, desc.inputs[i]);
  add_coordinates(all);
  const bool is_reduced = all.elements(true) > 1;
  if (desc.accumulate && !is_reduced) add_old_output(all, desc);
  if (is_reduced) {
    all.reduction = desc.reduction;
    all.accumulate = desc.accumulate;
  }
  add_argument(all, desc.inputs.size(), desc.output);
  sort_loops(all, leader(all, desc));
  merge_loops(all);
  return all;
}

ResultRegisters result_registers(const ElementProgram& program, const std::vector<bool>& is_kept) {
  const std::size_t count = program.size();
  std::vector<std::size_t> last_use(count);
  for (std::size_t i = 0; i < count; ++i) {
    last_use[i] = i;
    for (std::size_t k = 0; k < operand_count(program[i].op); ++k) {
      last_use[program[i].from.at(k)] = i;
    }
  }
  last_use.back() = count;
  ResultRegisters registers{.register_of = std::vector<std::size_t>(count)};
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (last_use[k] == i && is_kept[k]) free.push_back(registers.register_of[k]);
    }
    if (!is_kept[i]) continue;
    if (free.empty()) free.push_back(registers.count++);
    registers.register_of[i] = free.back();
    free.pop_back();
    if (last_use[i] == i) free.push_back(registers.register_of[i]);  // no instruction reads it
  }
  return registers;
}

}  // namespace parbench
