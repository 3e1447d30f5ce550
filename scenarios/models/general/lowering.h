// From a graph of general operations to operations of a device: what is computed where, in which
// order, and how long its memory is needed. Nothing is planned or allocated here.
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

/// A result that is to be written to memory from outside.
struct Target {
  int operation = 0;
  DType dtype = DType::f32;
  bool accumulate = false;  // adds to what is there
};

/// One operation of the device. Arguments name memory: an operation of the graph, or −1 − i for
/// target i.
struct LoweredCall {
  OpDesc desc;
  std::vector<std::pair<std::string_view, int>> arguments;
};

/// Memory for an operation's result, needed from the first call that names it to the last one.
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
  DType dtype = DType::f32;  // of temporaries other than sums and indices
  MathMode math = MathMode::strict;
  bool fuse = true;  // false: each operation is a call of its own
  /// Results that are in memory already, with their types: inputs, parameters, what was kept.
  std::map<int, DType> located = {};
};

/// Throws std::invalid_argument for a graph that no calls can express: more than eight dimensions.
[[nodiscard]] LoweredGraph lower(const Graph& graph, const std::vector<Target>& targets,
                                 const LoweringOptions& options);

}  // namespace parbench::general
