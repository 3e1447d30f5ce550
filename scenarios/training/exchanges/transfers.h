// Copies between replicas, or between them and a server.
#pragma once

#include <string>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// A sender or receiver.
struct Peer {
  std::string name;  // "replica 1"
  int device = 0;
  LaneId compute = 0;
  LaneId copies = 0;
};
[[nodiscard]] Peer peer_of(const StepTasks& tasks, int replica);

/// Adds a copy between peers; if both are on one device, on the compute lane of `from`.
TaskId add_transfer(StepTasks& tasks, const std::string& what, const Peer& from, const Peer& to,
                    std::vector<TaskId> after, const CopyCall& copy);

/// Adds copies of the replicas' gradients to separate memory of `receiver`, and additions of the
/// copies to `sum`. `is_first_there`: whether `sum` is the memory of the first replica's gradients;
/// otherwise the first replica's gradients are copied to `sum` before the additions. Returns the
/// task that completes the sum.
[[nodiscard]] TaskId add_reduction(StepTasks& tasks, const Peer& receiver, const BufferView& sum,
                                   bool is_first_there);

}  // namespace parbench
