// What crosses the boundaries between the stages of a step.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// The tensors of one micro-batch on their way over a boundary.
struct Crossing {
  GridPoint from;
  GridPoint to;
  int micro_batch = 0;
  std::vector<Call> pack = {};    // on the sender
  std::vector<Call> copies = {};  // one for each tensor
  std::vector<Call> unpack = {};  // on the receiver
  std::size_t bytes = 0;
};

/// Copies between neighbouring stages. Between devices with different layouts of activations what
/// is sent lies in canonical order: the sender's task ends with a reorder, the receiver's begins
/// with one.
class Boundaries {
 public:
  explicit Boundaries(StepTasks& tasks) : tasks_(tasks) {}

  /// The activations of a micro-batch from a stage to the next.
  [[nodiscard]] Crossing forward_from(const GridPoint& point, int micro_batch);
  /// Their gradients from a stage to the previous one.
  [[nodiscard]] Crossing backward_from(const GridPoint& point, int micro_batch);

  /// Adds the copy. It runs on the copy lane of the sender, or of the receiver where only that
  /// reaches the other's memory.
  void send(const char* what, const Crossing& crossing, std::vector<TaskId> produced);

  /// The last copy to a point for a micro-batch.
  struct Arrival {
    TaskId task = 0;           // the copy
    std::vector<Call> unpack;  // what brings it into the receiver's layout
  };
  [[nodiscard]] const Arrival& arrival(const GridPoint& point, int micro_batch) const {
    return arrivals_.at({point, micro_batch});
  }

 private:
  /// One end of a boundary: where a tensor lies on that device, in the device's layout.
  struct End {
    const Stage& stage;
    TensorDesc desc;
    BufferView view;
    const Slots& packed;  // of memory for the tensor in canonical order
  };
  [[nodiscard]] std::int64_t samples(const Crossing& crossing, int micro_batch) const;
  [[nodiscard]] BufferView packed_memory(const End& end, const Crossing& crossing);
  [[nodiscard]] BufferView canonical_end(const End& end, bool sends, Crossing& crossing);
  void cross(const End& from, const End& to, Crossing& crossing);

  StepTasks& tasks_;
  std::map<std::pair<GridPoint, int>, Arrival> arrivals_;
  /// Memory in canonical order by the slots of a kind, a slot, and the tensor's number at the
  /// boundary.
  std::map<std::tuple<const Slots*, int, std::size_t>, BufferView> packed_;
};

}  // namespace parbench
