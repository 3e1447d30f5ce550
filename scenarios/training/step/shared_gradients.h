// Gradients of parameters that two stages share, such as tied embeddings.
#pragma once

#include <string>
#include <vector>

#include "scenarios/training/step/step_tasks.h"

namespace parbench {

/// Exchange between the stage that owns a parameter and a stage with a copy of this parameter: each
/// stage adds the gradient that the other has computed, so that both get the same sum.
class SharedGradients {
 public:
  /// Marks the buckets to which another stage adds (Bucket::is_shared).
  explicit SharedGradients(StepTasks& tasks);

  /// Adds the copies and additions, after all passes.
  void write();

 private:
  /// The gradient of a shared parameter at one of its two stages.
  struct Part {
    GridPoint point;
    Tensor gradient;
  };
  struct Pair {
    std::string name;  // name of the parameter
    Part owner;
    Part copy;
  };
  [[nodiscard]] Part owner_of(const std::string& name, const GridPoint& copy) const;
  void write(const Pair& pair);
  [[nodiscard]] TaskId send(const Part& from, const Part& to, const BufferView& destination,
                            const std::string& name);
  void add(const Part& to, const BufferView& arrived, const std::string& name,
           std::vector<TaskId> after);

  StepTasks& tasks_;
  std::vector<Pair> pairs_;
};

}  // namespace parbench
