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

/// Adds a copy between peers; within a device, it runs on the compute lane.
TaskId add_transfer(StepTasks& tasks, const std::string& what, const Peer& from, const Peer& to,
                    std::vector<TaskId> after, const CopyCall& copy);

/// Adds the copies of all replicas' gradients to `receiver`, each from its own memory, and their
/// sum in `sum`. `is_first_there`: whether `sum` already contains the first replica's gradients; if
/// not, these are also sent. Returns the last addition.
[[nodiscard]] TaskId add_reduction(StepTasks& tasks, const Peer& receiver, const BufferView& sum,
                                   bool is_first_there);

}  // namespace parbench
