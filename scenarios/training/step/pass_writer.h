// Adds the forward and backward passes of stages to the plan.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/plan/schedules/schedule.h"
#include "scenarios/training/completion.h"
#include "scenarios/training/step/boundary.h"

namespace parbench {

class PassWriter;

/// A forward or backward pass of a stage of a replica, which is added to the plan in pieces, so
/// that other tasks can be added between them. The collectives of the shards run on the compute
/// lanes.
class StagePass {
 public:
  [[nodiscard]] bool is_written() const { return part_ == shards_.front().parts.size(); }
  /// Adds a task of each shard, up to the next complete bucket of gradients or the end of the
  /// current part (PassPart). Once all shards have reached the end, also adds the collective after
  /// the part or, after the last part, the transfer to the neighbouring stage.
  void write_piece();

 private:
  friend class PassWriter;

  struct Shard {
    GridPoint point;
    std::vector<PassPart> parts;
    std::vector<TaskId> after;
    // positions after which the point's buckets are complete; only in the last backward pass
    std::vector<PassPosition> completions = {};
    Crossing crossing = {};   // transfer to the next stage (forward) or the previous one (backward)
    std::size_t written = 0;  // number of calls of the current part that have been added
    std::size_t bucket = 0;   // index of the next bucket to be completed
  };

  explicit StagePass(PassWriter& writer) : writer_(&writer) {}
  [[nodiscard]] bool write_next(Shard& shard);
  void write_until(Shard& shard, std::size_t end, const std::string& piece);
  void combine();

  PassWriter* writer_;
  Task common_;  // fields that the tasks of all shards have in common
  std::vector<Shard> shards_;
  std::size_t part_ = 0;
};

class PassWriter {
 public:
  explicit PassWriter(StepTasks& tasks);

  /// Adds a task that packs parameters for each stage that has packed copies.
  void write_packing();

  /// Begins a forward or backward pass of a replica; throws std::logic_error for other actions. All
  /// of its pieces must be added before the next pass of the replica begins, and a pass must begin
  /// after the passes on which it depends (`in_dependency_order`).
  [[nodiscard]] StagePass begin(int replica, const Action& action);
  void write(int replica, const Action& action);

 private:
  friend class StagePass;

  [[nodiscard]] std::int64_t samples(int replica, int micro_batch) const;
  void begin_forward(StagePass& pass, int replica, const Action& action);
  void begin_backward(StagePass& pass, int replica, const Action& action);
  void receive(StagePass::Shard& shard, int micro_batch) const;
  void end(StagePass& pass);

  StepTasks& tasks_;
  Boundaries boundaries_;
  // collectives of shards, by replica and stage
  std::map<std::pair<int, int>, MemberCollectives> collectives_;
  // number of backward passes so far, by replica and stage
  std::map<std::pair<int, int>, int> backwards_;
  std::map<std::pair<GridPoint, int>, std::vector<TaskId>> forward_;
};

}  // namespace parbench
