// Copies between replicas, or between them and a server.
#pragma once

#include <string>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Who sends or receives.
struct Peer {
  std::string name;  // "replica 1"
  int device = 0;
  LaneId compute = 0;
  LaneId copies = 0;
};
[[nodiscard]] Peer peer_of(const StepTasks& tasks, int replica);

/// Adds a copy from one to another, or on the compute lane of a device within it.
TaskId add_transfer(StepTasks& tasks, const std::string& what, const Peer& from, const Peer& to,
                    std::vector<TaskId> after, const CopyCall& copy);

/// Adds the copies of all replicas' gradients to `receiver` and their sum in `sum`, each from
/// memory of its own. `is_first_there`: whether `sum` has the first replica's already; else they
/// are sent there as well. Returns the last addition.
[[nodiscard]] TaskId add_reduction(StepTasks& tasks, const Peer& receiver, const BufferView& sum,
                                   bool is_first_there);

}  // namespace parbench
