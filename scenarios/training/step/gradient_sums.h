// All-reduces of gradients: over replicas, and over shards that have computed parts of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

class GradientSums {
 public:
  /// Adds the lanes for buckets. On the copy lanes between stages a bucket would wait for the end
  /// of the backward pass.
  explicit GradientSums(StepTasks& tasks);

  /// Adds the all-reduces of buckets that all replicas have written since the last call, in the
  /// order of the backward pass. A bucket to which another stage adds waits for `write_rest`, and
  /// so do those after it.
  void write_complete_buckets();

  /// Adds all that is left, behind the passes.
  void write_rest();

  /// The runs of gradients that the norm of clipping counts at a point: what all shards have counts
  /// on the first of them.
  [[nodiscard]] std::vector<BufferView> counted(const GridPoint& point) const;

 private:
  /// A point's part of a sum, and the tasks that complete it.
  struct Part {
    GridPoint point;
    BufferView data;
    std::vector<TaskId> completed;
  };
  /// Devices and their compute lanes.
  [[nodiscard]] std::vector<Member> members(const std::vector<GridPoint>& points) const;
  void add_up(MemberCollectives& collectives, const std::string& name,
              const std::vector<Part>& parts);
  void write_bucket(int stage, int shard, std::size_t bucket);
  void write_buckets(bool all);
  void write_over_replicas(int stage, int shard);
  void write_repeated(int replica, int stage);
  [[nodiscard]] std::vector<BufferView> runs(const GridPoint& point, bool repeated) const;

  StepTasks& tasks_;
  std::map<int, LaneId> lanes_;                         // for buckets, by device
  std::map<std::pair<int, int>, std::size_t> written_;  // buckets so far, by stage and shard
};

}  // namespace parbench
