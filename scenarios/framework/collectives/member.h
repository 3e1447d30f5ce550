// Members of a collective, and the tasks that end it.
#pragma once

#include <vector>

#include "kernels/core/buffer.h"
#include "scenarios/plan/graph.h"

namespace parbench {

/// A device that takes part in a collective.
struct Member {
  int device = 0;
  /// Lane on which the device copies: sends, except to devices with which it shares host memory;
  /// receives from these devices, and from devices that cannot access this device's memory;
  /// collectives of a communicator as a whole.
  LaneId copies = 0;
  LaneId compute = 0;    // lane of the device for its additions
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
