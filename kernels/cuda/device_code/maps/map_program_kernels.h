// Element programs over strided tensors, interpreted by each thread. Arithmetic is in f32; f32,
// bf16 and i32 are read, f32 and bf16 are written.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ops/map_loops.h"

namespace parbench::cuda {

/// A step with the registers of its result and of what it reads; an input's operand is from[0].
struct DeviceStep {
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
  std::int64_t strides[Map::max_rank];
};

/// A Map as kernels take it, by value: its loops, first those that are kept, each kind innermost
/// first, its operands, the output the last one, and its steps.
struct DeviceMap {
  static constexpr std::size_t max_steps = Map::max_steps + 2;

  int kept = 0;     // loops
  int reduced = 0;  // loops
  int operands = 0;
  int steps = 0;
  bool accumulate = false;
  Reduction reduction = Reduction::none;
  std::int64_t kept_count = 1;     // elements
  std::int64_t reduced_count = 1;  // elements for each of them
  std::int64_t extents[Map::max_rank] = {};
  DeviceOperand operand[max_map_operands] = {};
  DeviceStep step[max_steps] = {};
};

static_assert(sizeof(DeviceMap) <= 3584);  // parameters of a kernel have 4096 bytes in all

/// Elements that a thread computes at once where `is_grouped`.
inline constexpr int map_group = 4;

/// Runs a program without a reduction. `is_grouped`: groups of elements, of which the first one's
/// index is a multiple of `map_group`, are neighbours in the output and neighbours or one and the
/// same element in all inputs; their addresses are multiples of a group's bytes.
void run_map(const DeviceMap& map, bool is_grouped, cudaStream_t stream);

/// How a reduction is divided among threads. It depends on the extents alone.
struct MapReductionShape {
  bool is_by_blocks = false;  // a block of threads for each result, else one thread
  std::int64_t chunks = 1;    // of the elements that are reduced
};

[[nodiscard]] MapReductionShape map_reduction_shape(const MapLoops& loops);

/// Runs a program with a reduction. `partials`: chunks · kept_count numbers where there are several
/// chunks.
void reduce_map(const DeviceMap& map, const MapReductionShape& shape, double* partials,
                cudaStream_t stream);

}  // namespace parbench::cuda
