// What each device keeps of parameters, gradients and the optimiser's state where these are divided
// over devices (ZeRO).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "scenarios/data_parallel/replicas.h"
#include "scenarios/plan/schedules/sharding.h"
#include "scenarios/training/checks/update_checks.h"

namespace parbench {

/// What is divided: from stage 1 on the optimiser's state, from 2 on the sums of gradients, and in
/// stage 3 parameters.
struct ShardingSettings {
  int stage = 1;
  int prefetch = 1;  // steps by which buckets of parameters arrive early (stage 3)
  std::size_t bucket_bytes = 0;

  [[nodiscard]] bool divides_gradients() const { return stage >= 2; }
  [[nodiscard]] bool divides_parameters() const { return stage >= 3; }
};

class Shards {
 public:
  /// Borrows the shards of what is divided; the rest lies in the replicas.
  Shards(DataParallelParts& parts, ShardLayout layout, const ShardingSettings& settings,
         const Optimizer& optimizer);

  [[nodiscard]] const ShardLayout& layout() const { return layout_; }
  /// A replica's block of a bucket: the sums of its gradients, and its parameters.
  [[nodiscard]] BufferView gradients(std::size_t r, std::size_t bucket) const;
  [[nodiscard]] BufferView parameters(std::size_t r, std::size_t bucket) const;
  /// The update of that block; null where the block is empty.
  [[nodiscard]] RegionUpdate* update(std::size_t r, std::size_t bucket) {
    return updates_[r][bucket].get();
  }

  /// Where parameters are divided: makes a reset fill a replica's shard. `scratch` has room for
  /// every parameter.
  void initialize_at_reset(std::size_t r, const BufferView& scratch);

  /// Where the results of a step lie, for outputs and checks.
  [[nodiscard]] UpdatedParameters results() const;

  /// The bytes of parameters, gradients and the optimiser's state that a replica keeps.
  struct Kept {
    std::size_t parameters = 0;
    std::size_t gradients = 0;
    std::size_t state = 0;
  };
  [[nodiscard]] Kept kept(std::size_t r) const;

 private:
  [[nodiscard]] std::vector<CaseData::MemoryPiece> pieces(const std::vector<Tensor>& shards,
                                                          const Stage::TrainedParameter& one) const;

  DataParallelParts& parts_;
  ShardLayout layout_;
  ShardingSettings settings_;
  Optimizer optimizer_;
  std::vector<Tensor> gradient_shards_;   // by replica; none where they are not divided
  std::vector<Tensor> parameter_shards_;  // the same
  std::vector<std::vector<std::unique_ptr<RegionUpdate>>> updates_;  // by replica and bucket
};

}  // namespace parbench
