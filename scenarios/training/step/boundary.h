// Transfers over the boundaries between the stages of a step.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Transfer of the tensors of one micro-batch over a boundary.
struct Crossing {
  GridPoint from;
  GridPoint to;
  int micro_batch = 0;
  std::vector<Call> pack = {};    // reorders to canonical order on the sender
  std::vector<Call> copies = {};  // one for each tensor
  std::vector<Call> unpack = {};  // reorders from canonical order on the receiver
  std::size_t bytes = 0;
};

/// Copies between neighbouring stages. A tensor with different layouts on the two devices is sent
/// in canonical order. Where necessary, the sender's task ends with a reorder and the receiver's
/// task begins with one.
class Boundaries {
 public:
  explicit Boundaries(StepTasks& tasks) : tasks_(tasks) {}

  /// Returns the transfer of a micro-batch's activations from a point to the next stage.
  [[nodiscard]] Crossing forward_from(const GridPoint& point, int micro_batch);
  /// Returns the transfer of a micro-batch's gradients from a point to the previous stage.
  [[nodiscard]] Crossing backward_from(const GridPoint& point, int micro_batch);

  /// Adds the task of the copies, on copy lanes (`copying_lanes`). `what`: "activations" or
  /// "gradients"; `produced`: tasks for which the copies wait.
  void send(const char* what, const Crossing& crossing, std::vector<TaskId> produced);

  /// The transfer to a point that was added last for a micro-batch.
  struct Arrival {
    TaskId task = 0;
    std::vector<Call> unpack;
  };
  [[nodiscard]] const Arrival& arrival(const GridPoint& point, int micro_batch) const {
    return arrivals_.at({point, micro_batch});
  }

 private:
  /// One end of a boundary: the memory of a tensor on that device, in the device's layout.
  struct End {
    const Stage& stage;
    TensorDesc desc;
    BufferView view;
    const Slots& packed;  // slots of canonical memory for the tensor
  };
  [[nodiscard]] BufferView packed_memory(const End& end, const Crossing& crossing);
  [[nodiscard]] BufferView canonical_end(const End& end, bool sends, Crossing& crossing);
  void cross(const End& from, const End& to, Crossing& crossing);

  StepTasks& tasks_;
  std::map<std::pair<GridPoint, int>, Arrival> arrivals_;
  /// Canonical memory by kind of slots, slot, and index of the tensor at the boundary.
  std::map<std::tuple<const Slots*, int, std::size_t>, BufferView> packed_;
};

}  // namespace parbench
