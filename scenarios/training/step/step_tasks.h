// What the writers of a training step share: lanes, names, and the tasks that complete gradients.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/training/step/training_step.h"

namespace parbench {

void append(std::vector<Call>& to, std::vector<Call> from);
void append(std::vector<TaskId>& to, const std::vector<TaskId>& from);

/// A part of the gradients at a point, and the tasks that complete it so far.
struct Bucket {
  BufferView gradients;
  std::vector<TaskId> completed = {};
  bool is_written = false;  // its part of the last backward pass
  bool is_shared = false;   // another stage adds to it after the passes
};

class StepTasks {
 public:
  /// Adds a compute lane of every device, and copy lanes where stages or exchanges copy.
  explicit StepTasks(TrainingStep& step);

  [[nodiscard]] TrainingStep& step() const { return step_; }
  [[nodiscard]] Stage& stage(const GridPoint& point) const { return step_.stage(point); }

  [[nodiscard]] LaneId compute_lane(const GridPoint& point) const {
    return compute_.at(step_.layout.device(point));
  }
  /// The compute lane where there are no copy lanes.
  [[nodiscard]] LaneId copy_lane(const GridPoint& point) const {
    return copy_.empty() ? compute_lane(point) : copy_.at(step_.layout.device(point));
  }
  /// The lanes of a copy. Without stages there is nothing to compute beside it.
  [[nodiscard]] std::vector<LaneId> lanes_between(const GridPoint& from, const GridPoint& to) const;

  /// The tasks that complete the gradients of a point so far, which its update waits for.
  [[nodiscard]] std::vector<TaskId>& completed(const GridPoint& point) { return completed_[point]; }
  /// The tasks that complete one of the gradients of a point: those of its bucket, or of all.
  [[nodiscard]] std::vector<TaskId> completed(const GridPoint& point, const BufferView& gradient);
  /// In the order in which they are complete; none where gradients are not divided.
  [[nodiscard]] std::vector<Bucket>& buckets(const GridPoint& point) { return buckets_[point]; }

  /// "stage 1", "stage 1, shard 0".
  [[nodiscard]] std::string text(const GridPoint& point) const;
  /// "1", "1, shard 0".
  [[nodiscard]] std::string number(const GridPoint& point) const;
  /// The same behind a comma, without stage or shard where there is only one: "", ", stage 1".
  [[nodiscard]] std::string divided_text(const GridPoint& point) const;
  /// What ends the names of tasks: ", replica 1" where there are several.
  [[nodiscard]] std::string label(int replica) const;

 private:
  TrainingStep& step_;
  std::map<int, LaneId> compute_;  // by device
  std::map<int, LaneId> copy_;     // the same
  std::map<GridPoint, std::vector<TaskId>> completed_;
  std::map<GridPoint, std::vector<Bucket>> buckets_;
};

}  // namespace parbench
