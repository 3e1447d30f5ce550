// Translates a graph of general operations to operations of a device: calls, their order, and the
// lifetimes of memory. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/ops/ops.h"
#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// A result to be written to memory of the caller.
struct Target {
  int operation = 0;
  DType dtype = DType::f32;
  bool accumulate = false;  // add to the content of the memory
};

/// One operation of the device. Arguments name memory: i ≥ 0 is the memory of the result of
/// operation i, −1 − i that of target i.
struct LoweredCall {
  OpDesc desc;
  std::vector<std::pair<std::string_view, int>> arguments;
};

/// Memory for an operation's result, in use from the first to the last call that names it.
struct Temporary {
  int operation = 0;
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct LoweredGraph {
  std::vector<LoweredCall> calls;
  std::vector<Temporary> temporaries;  // in the order of their first calls
};

struct LoweringOptions {
  std::int64_t samples = 1;
  DType dtype = DType::f32;  // type of temporaries; exceptions: MemoryPlan::type_of
  MathMode math = MathMode::strict;
  bool fuse = true;  // false: a call has at most one element operation with inputs
  /// Types of the results that are already in memory (inputs, parameters, kept results), by
  /// operation.
  std::map<int, DType> located = {};
};

/// Returns the calls that compute the targets. Throws std::invalid_argument for tensors of more
/// than Map::max_dimensions dimensions, and UsageError for selections among more than `max_rows`
/// rows.
[[nodiscard]] LoweredGraph lower(const Graph& graph, const std::vector<Target>& targets,
                                 const LoweringOptions& options);

}  // namespace parbench::general
