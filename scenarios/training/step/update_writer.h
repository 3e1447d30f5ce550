// Adds the updates of a step, with clipping of gradients by their norm.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

class UpdateWriter {
 public:
  /// Function that returns the ranges of gradients that the norm includes at a point. If it is
  /// null, the norm includes RegionUpdate::counted at each point.
  using Counted = std::function<std::vector<BufferView>(const GridPoint&)>;
  explicit UpdateWriter(StepTasks& tasks, Counted counted = nullptr)
      : tasks_(tasks), counted_(std::move(counted)) {}

  /// Adds an update of each stage of a replica and returns the updates in the order of the
  /// replica's points. With clipping, every point gets the squared norms of all points of the
  /// replica and computes the clip factor itself, from the same numbers in the same order.
  std::vector<TaskId> write(int replica);

 private:
  /// Squared norms that a point computes.
  struct Norms {
    GridPoint point;
    std::vector<BufferView> gradients;
    std::size_t first = 0;  // index of the point's first norm among the norms of the replica
    std::vector<TaskId> computed = {};
  };
  [[nodiscard]] std::vector<Norms> norms_of(int replica) const;
  void write_norms(Norms& own, const BufferView& norms);
  [[nodiscard]] TaskId send_norms(const Norms& from, const BufferView& source, const Norms& to,
                                  const BufferView& destination);
  std::vector<TaskId> write_clipped(int replica);
  TaskId write_update(const GridPoint& point, std::vector<TaskId> after, std::vector<Call> before);

  StepTasks& tasks_;
  Counted counted_;
};

}  // namespace parbench
