// Divides the passes of a replica into segments by the buckets of parameters and gradients that
// they use, and places these buckets in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/framework/symbolic.h"
#include "scenarios/plan/schedules/bucket_pool.h"
#include "scenarios/training/exchanges/packed_copies.h"
#include "scenarios/training/step/step_tasks.h"

namespace parbench {

class ZeroSegments {
 public:
  /// Divides passes into segments and borrows the pool. Forward passes are divided only if
  /// parameters are sharded (ZeRO 3). If gradients are not sharded (ZeRO 1), only the last backward
  /// pass is divided: earlier micro-batches accumulate gradients in the whole region.
  ZeroSegments(TrainingStep& step, std::size_t r, const ShardLayout& layout);

  [[nodiscard]] int count() const { return static_cast<int>(segments_.size()); }

  /// Segments of both passes of a micro-batch.
  struct Passes {
    int micro_batch = 0;
    int forward = 0;   // first segment of the forward pass
    int backward = 0;  // first segment of the backward pass
    int end = 0;       // one past the last segment
    /// By bucket: the segment after which the gradients of this bucket and of all buckets with
    /// lower indices are complete.
    std::vector<int> completion = {};
  };
  [[nodiscard]] const std::vector<Passes>& passes() const { return passes_; }
  [[nodiscard]] const Passes& passes_of(int segment) const;

  /// Returns the calls of a segment, bound to the pool. For buckets that this segment is the first
  /// to use, calls are added at the beginning: they refresh the packed copies, and zero gradients
  /// or, for the first micro-batch, only the padding between them.
  [[nodiscard]] std::vector<Call> calls(int segment);

  [[nodiscard]] const std::vector<PooledBucket>& held() const { return plan_.buckets; }
  /// Return indices in `held`: `arriving` of the buckets of parameters that arrive during a
  /// segment, `used` of all buckets that the segment reads or writes.
  [[nodiscard]] std::vector<std::size_t> arriving(int segment) const;
  [[nodiscard]] std::vector<std::size_t> used(int segment) const;
  /// Returns the index in `held` of the gradients of a bucket, as held during the segment that
  /// completes them in `passes`.
  [[nodiscard]] std::size_t gradients_of(const Passes& passes, std::size_t bucket) const;
  [[nodiscard]] BufferView memory(const PooledBucket& held) const {
    return pool_.view.part(held.offset, held.bytes);
  }
  [[nodiscard]] const BufferView& pool() const { return pool_.view; }
  /// Makes the first reset fill the pool with NaN, so that missing arrivals are detected. Must be
  /// called after Shards::initialize_at_reset, whose part of the reset uses the pool as scratch
  /// memory.
  void poison_pool();

 private:
  struct Segment {
    std::vector<SymbolicCall> calls;
    // buckets in the pool that the calls access, ascending
    std::vector<std::size_t> parameters;
    std::vector<std::size_t> gradients;
  };
  [[nodiscard]] Stream& compute_stream() const {
    return step_.context.stream(step_.replica(r_).device(), StreamKind::compute);
  }
  void divide(const std::vector<SymbolicCall>& calls, std::span<const std::size_t> ends);
  void add_passes(int micro_batch);
  void divide_backward(Passes& passes);
  void make_pool();
  [[nodiscard]] std::vector<PooledBucket> wanted(bool stays) const;
  void add_zeros(std::size_t bucket, std::vector<SymbolicCall>& calls);
  [[nodiscard]] SymbolicCall zero_of(std::size_t begin, std::size_t end);
  /// Returns whether data of the space is in the pool.
  [[nodiscard]] bool is_pooled(Space space) const {
    return space == Space::gradients ? settings_.divides_gradients()
                                     : settings_.divides_parameters();
  }
  [[nodiscard]] std::vector<std::size_t> buckets_of(const SymbolicCall& call, Space space) const;
  [[nodiscard]] std::vector<std::size_t> pooled(const SymbolicCall& call, Space space) const;
  /// Returns an index in `held`. Throws std::logic_error if the bucket is not in the pool during
  /// the segment.
  [[nodiscard]] std::size_t find(Space space, std::size_t bucket, int segment) const;
  [[nodiscard]] SymbolicView moved(const SymbolicView& view, int segment) const;

  TrainingStep& step_;
  std::size_t r_;
  const ShardLayout& layout_;
  Exchange settings_;
  std::vector<Segment> segments_;
  std::vector<Passes> passes_;
  std::optional<PackedCopies> packed_;  // empty unless parameters are divided
  BucketPool plan_;
  Tensor pool_;
};

}  // namespace parbench
