// Shared data of the writers of a training step: lanes, names, and the tasks that complete
// gradients.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/training/step/training_step.h"

namespace parbench {

void append(std::vector<Call>& to, std::vector<Call> from);
void append(std::vector<TaskId>& to, const std::vector<TaskId>& from);

/// A part of the gradients at a point, and the tasks added so far that complete it.
struct Bucket {
  BufferView gradients;
  std::vector<TaskId> completed = {};
  bool is_written = false;  // whether all calls of passes that write the bucket have been added
  bool is_shared = false;   // whether another stage adds gradients to the bucket after the passes
};

class StepTasks {
 public:
  /// Adds a compute lane for every device, and a copy lane if there are several stages or the
  /// exchange copies data.
  explicit StepTasks(TrainingStep& step);

  [[nodiscard]] TrainingStep& step() const { return step_; }
  [[nodiscard]] Stage& stage(const GridPoint& point) const { return step_.stage(point); }

  [[nodiscard]] LaneId compute_lane(const GridPoint& point) const {
    return compute_.at(step_.layout.device(point));
  }
  /// Returns the copy lane, or the compute lane if there are no copy lanes.
  [[nodiscard]] LaneId copy_lane(const GridPoint& point) const {
    return copy_.empty() ? compute_lane(point) : copy_.at(step_.layout.device(point));
  }
  /// Returns the lanes of a copy between two points: compute lanes if the step has no copy lanes.
  [[nodiscard]] std::vector<LaneId> lanes_between(const GridPoint& from, const GridPoint& to) const;

  /// Returns the tasks added so far that complete the gradients of a point. The point's update
  /// waits for them.
  [[nodiscard]] std::vector<TaskId>& completed(const GridPoint& point) { return completed_[point]; }
  /// Returns the tasks that complete one of the gradients of a point: the tasks of its buckets or,
  /// without buckets, of all gradients.
  [[nodiscard]] std::vector<TaskId> completed(const GridPoint& point, const BufferView& gradient);
  /// Returns the buckets in the order in which backward passes complete them; empty if gradients
  /// are not exchanged in buckets.
  [[nodiscard]] std::vector<Bucket>& buckets(const GridPoint& point) { return buckets_[point]; }

  /// Returns "stage 1" or "stage 1, shard 0".
  [[nodiscard]] std::string text(const GridPoint& point) const;
  /// Returns "1" or "1, shard 0".
  [[nodiscard]] std::string number(const GridPoint& point) const;
  /// Returns stage and shard, each only if there are several: "", ", stage 1", ", stage 1, shard
  /// 0".
  [[nodiscard]] std::string divided_text(const GridPoint& point) const;
  /// Returns the end of the names of a replica's tasks: ", replica 1"; "" if there is only one
  /// replica.
  [[nodiscard]] std::string label(int replica) const;

 private:
  TrainingStep& step_;
  std::map<int, LaneId> compute_;  // by device
  std::map<int, LaneId> copy_;     // by device
  std::map<GridPoint, std::vector<TaskId>> completed_;
  std::map<GridPoint, std::vector<Bucket>> buckets_;
};

}  // namespace parbench
