// A device's part in a collective, and the end of a collective.
#pragma once

#include <vector>

#include "kernels/core/buffer.h"
#include "scenarios/plan/graph.h"

namespace parbench {

/// A device that takes part in a collective. In a ring, member m sends to member m + 1.
struct Member {
  int device = 0;
  /// Lane of the device that its sends run on; also what it receives from a device that does not
  /// reach its memory, or whose memory it reaches itself because both are the host's. A
  /// communicator's collectives run there as a whole.
  LaneId copies = 0;
  LaneId compute = 0;    // lane of the device that its additions run on
  BufferView data = {};  // all blocks, one after the other, block m being member m's own
  /// When `data` may be read and its own block is ready; when the other blocks may be overwritten.
  std::vector<TaskId> ready = {};
  BufferView input = {};  // for collectives that do not work in place (`has_input`)
};

/// A member whose sends and additions run on the same lane.
[[nodiscard]] inline Member member_on(int device, LaneId lane) {
  return {.device = device, .copies = lane, .compute = lane};
}

/// For each member, the tasks after which all of its blocks hold the result and nothing of the
/// collective touches its memory any more.
using Completion = std::vector<std::vector<TaskId>>;

}  // namespace parbench
