// A device's part in a collective, and the end of a collective.
#pragma once

#include <vector>

#include "kernels/core/buffer.h"
#include "scenarios/plan/graph.h"

namespace parbench {

/// A device's part in a collective. In a ring, rank r sends to rank r + 1.
struct Rank {
  /// Lane of the device for its sends. It also runs receives from devices that cannot access this
  /// device's memory, or that share host memory with it. Collectives of a communicator run on it as
  /// a whole.
  LaneId copies = 0;
  LaneId compute = 0;  // lane of the device for its additions
  BufferView data;     // all blocks in order; block r belongs to rank r
  /// Tasks after which `data` may be read, its own block is ready, and the other blocks may be
  /// overwritten.
  std::vector<TaskId> ready = {};
  BufferView input = {};  // for collectives that do not work in place (`has_input`)
};

/// For each rank: the tasks after which all of its blocks are complete and the collective no longer
/// accesses its memory.
using Completion = std::vector<std::vector<TaskId>>;

}  // namespace parbench
