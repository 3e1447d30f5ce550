// Element programs over strided tensors, interpreted by each thread. Arithmetic is in f32; inputs
// and output are f32, bf16 or i32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ops/map_loops.h"

namespace parbench::cuda {

/// An instruction with the registers of its result and of its operands. For ElementOp::input,
/// from[0] is the index of the operand in DeviceMap.
struct DeviceInstruction {
  ElementOp op;
  std::uint8_t to;
  std::uint8_t from[3];
  float number;
};

struct DeviceOperand {
  enum class Kind : std::uint8_t { f32, bf16, i32, coordinate };
  Kind kind;
  void* data;  // null for a coordinate
  std::int64_t offset;
  std::int64_t strides[Map::max_dimensions];
};

/// Parameters of a kernel for a Map, passed by value: its loops (kept loops first, each kind
/// innermost first), its operands (the output last), and its instructions.
struct DeviceMap {
  static constexpr std::size_t max_instructions = Map::max_instructions + 2;

  int kept = 0;     // number of kept loops
  int reduced = 0;  // number of reduced loops
  int operands = 0;
  int instructions = 0;
  bool accumulate = false;
  Reduction reduction = Reduction::none;
  std::int64_t kept_count = 1;     // number of elements of the output
  std::int64_t reduced_count = 1;  // number of elements reduced to each of them
  std::int64_t extents[Map::max_dimensions] = {};
  DeviceOperand operand[max_map_operands] = {};
  DeviceInstruction instruction[max_instructions] = {};
};

static_assert(sizeof(DeviceMap) <= 3584);  // the parameters of a kernel have at most 4096 bytes

/// Number of elements that a thread computes at once if `is_grouped`.
inline constexpr int map_group = 4;

/// Runs a program without a reduction. `is_grouped`: groups of elements whose first index is a
/// multiple of `map_group` are adjacent in the output, and adjacent or one repeated element in all
/// inputs; their addresses are multiples of a group's bytes.
void run_map(const DeviceMap& map, bool is_grouped, cudaStream_t stream);

/// Division of a reduction among threads. It depends only on the loops, not on the GPU.
struct MapReductionShape {
  bool is_by_blocks = false;  // each chunk is reduced by a block of threads, otherwise by a thread
  std::int64_t chunks = 1;    // number of parts of the elements that are reduced to one result
};

[[nodiscard]] MapReductionShape map_reduction_shape(const MapLoops& loops);

/// Runs a program with a reduction. `partials`: chunks · kept_count numbers if there are several
/// chunks.
void reduce_map(const DeviceMap& map, const MapReductionShape& shape, double* partials,
                cudaStream_t stream);

}  // namespace parbench::cuda
