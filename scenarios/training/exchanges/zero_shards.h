// Shards of parameters, gradients and the optimiser's state on each device (ZeRO).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"
#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

class Shards {
 public:
  /// Borrows memory for sharded data; the other data is in the memory of the replicas' stages.
  Shards(TrainingStep& step, ShardLayout layout);

  [[nodiscard]] const ShardLayout& layout() const { return layout_; }
  /// Return a replica's block of a bucket: of the sums of gradients, or of the parameters.
  [[nodiscard]] BufferView gradients(std::size_t r, std::size_t bucket) const;
  [[nodiscard]] BufferView parameters(std::size_t r, std::size_t bucket) const;
  /// Returns the update of a replica's block of a bucket; null if the block is empty.
  [[nodiscard]] RegionUpdate* update(std::size_t r, std::size_t bucket) {
    return updates_[r][bucket].get();
  }

  /// With sharded parameters: makes a reset write the initial values to a replica's shard.
  /// `scratch` must have room for the largest parameter.
  void initialize_at_reset(std::size_t r, const BufferView& scratch);

  /// Returns readers of a step's results, for outputs and checks.
  [[nodiscard]] UpdatedParameters results() const;

  /// Bytes that a replica keeps for the whole step, without the pool of ZeroSegments.
  struct Kept {
    std::size_t parameters = 0;
    std::size_t gradients = 0;
    std::size_t state = 0;
  };
  [[nodiscard]] Kept kept(std::size_t r) const;

 private:
  [[nodiscard]] BufferView block_in(const std::vector<Tensor>& shards, const BufferView& whole,
                                    std::size_t r, std::size_t bucket) const;
  [[nodiscard]] std::vector<CaseData::MemoryPiece> pieces(const std::vector<Tensor>& shards,
                                                          const Stage::TrainedParameter& one) const;

  TrainingStep& step_;
  ShardLayout layout_;
  Optimizer optimizer_;
  std::vector<Tensor> gradient_shards_;   // by replica; empty if gradients are not sharded
  std::vector<Tensor> parameter_shards_;  // by replica; empty if parameters are not sharded
  std::vector<std::vector<std::unique_ptr<RegionUpdate>>> updates_;  // by replica and bucket
};

}  // namespace parbench
