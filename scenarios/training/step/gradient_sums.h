// All-reduces of gradients: over replicas, and over shards that have computed partial sums.
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
  /// If gradients are exchanged in buckets, adds separate copy lanes for them, so that the plan
  /// does not order a bucket after transfers that begin when the backward pass ends. With several
  /// stages, both copy lanes of a device are on its only copy stream.
  explicit GradientSums(StepTasks& tasks);

  /// Adds the all-reduces of buckets that all replicas have completed since the last call, in the
  /// order of the backward pass. Stops at a bucket to which another stage adds gradients:
  /// `write_rest` adds this and all later buckets of its stage.
  void write_complete_buckets();

  /// Adds the remaining all-reduces, after the passes.
  void write_rest();

  /// Returns the ranges of gradients that the norm for clipping includes at a point. Gradients that
  /// all shards have are included only on the first shard.
  [[nodiscard]] std::vector<BufferView> counted(const GridPoint& point) const;

 private:
  /// A point's addend of a sum, and the tasks that complete it.
  struct Part {
    GridPoint point;
    BufferView data;
    std::vector<TaskId> completed;
  };
  /// Returns the members of a collective of these points, on their compute lanes.
  [[nodiscard]] std::vector<Member> members(const std::vector<GridPoint>& points) const;
  void add_up(MemberCollectives& collectives, const std::string& name,
              const std::vector<Part>& parts);
  void write_bucket(int stage, int shard, std::size_t bucket);
  void write_buckets(bool all);
  void write_over_replicas(int stage, int shard);
  void write_repeated(int replica, int stage);
  [[nodiscard]] std::vector<BufferView> runs(const GridPoint& point, bool repeated) const;

  StepTasks& tasks_;
  std::map<int, LaneId> lanes_;  // copy lanes for buckets, by device
  // number of buckets whose all-reduces have been added, by stage and shard
  std::map<std::pair<int, int>, std::size_t> written_;
};

}  // namespace parbench
