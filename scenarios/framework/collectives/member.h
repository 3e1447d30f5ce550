// Members of a collective, and the tasks that end it.
#pragma once

#include <vector>

#include "kernels/core/buffer.h"
#include "scenarios/plan/graph.h"

namespace parbench {

/// A device that takes part in a collective.
struct Member {
  int device = 0;
  /// Lane of the device for
  /// - receives from devices that share memory with this device (`share_memory`);
  /// - this device's part of copies to and from other devices (`copying_lanes`);
  /// - collectives of a communicator, including their additions.
  LaneId copies = 0;
  LaneId compute = 0;    // lane of the device for additions of messages
  BufferView data = {};  // all blocks in order; block m belongs to member m
  /// Tasks after which `data` has its initial content, and the collective may read and overwrite
  /// it.
  std::vector<TaskId> ready = {};
  BufferView input = {};  // source of collectives that do not work in place (`has_input`)
};

/// A member whose sends and additions run on the same lane.
[[nodiscard]] inline Member member_on(int device, LaneId lane) {
  return {.device = device, .copies = lane, .compute = lane};
}

/// For each member: the tasks after which its result is complete and the collective no longer
/// accesses its memory.
using Completion = std::vector<std::vector<TaskId>>;

}  // namespace parbench
