// How data parallelism divides parameters over devices, and when which of them are in memory: pure
// functions.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/data_parallel.h"

namespace parbench {

/// Groups neighbouring parameters from the last one back, as `gradient_buckets` does, but for those
/// that fill a bucket alone: these have one of their own or share it with much smaller ones,
/// because a device has room for whole buckets only.
[[nodiscard]] std::vector<GradientBucket> shard_buckets(const std::vector<std::size_t>& offsets,
                                                        std::size_t total_bytes,
                                                        std::size_t bucket_bytes);

/// Flat f32 numbers divided into buckets, each of which is divided evenly over all devices: a
/// device's shard has its block of every bucket, one behind the other. Offsets and sizes are in
/// bytes.
class ShardLayout {
 public:
  ShardLayout(std::vector<GradientBucket> buckets, std::size_t devices);

  [[nodiscard]] std::size_t devices() const { return shard_bytes_.size(); }
  [[nodiscard]] const std::vector<GradientBucket>& buckets() const { return buckets_; }
  [[nodiscard]] std::size_t bucket_bytes(std::size_t bucket) const {
    return buckets_[bucket].end - buckets_[bucket].begin;
  }
  /// Throws std::out_of_range for an offset behind the last bucket.
  [[nodiscard]] std::size_t bucket_at(std::size_t offset) const;

  /// A device's part of a bucket.
  struct Block {
    std::size_t device = 0;
    std::size_t bucket = 0;
    std::size_t begin = 0;  // in the bucket
    std::size_t bytes = 0;
    std::size_t in_shard = 0;  // where it begins in the device's shard
  };
  [[nodiscard]] const Block& block(std::size_t device, std::size_t bucket) const {
    return blocks_[bucket][device];
  }
  [[nodiscard]] std::size_t shard_bytes(std::size_t device) const { return shard_bytes_[device]; }

  /// The parts of the bytes [offset, offset + bytes) in their order; `begin` is in the bucket and
  /// `in_shard` in the shard, as in a block.
  [[nodiscard]] std::vector<Block> parts_of(std::size_t offset, std::size_t bytes) const;

 private:
  std::vector<GradientBucket> buckets_;
  std::vector<std::vector<Block>> blocks_;  // by bucket and device
  std::vector<std::size_t> shard_bytes_;
};

/// A bucket in memory from one of a sequence of steps to another, both included.
struct Holding {
  std::size_t bucket = 0;
  int begin = 0;  // the step during which it arrives
  int first = 0;  // the first step that needs it, `prefetch` steps behind where there are so many
  int last = 0;
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// When buckets are in memory of which each step needs some: each arrives `prefetch` steps before
/// it is needed, and goes with the step that needs it, unless it would arrive again by the next
/// one. Where it does not stay for that (`stays`), it goes unless the next step needs it, and
/// arrives again later. Sorted by where they begin, then by where they are needed.
[[nodiscard]] std::vector<Holding> holdings_of(const std::vector<std::vector<std::size_t>>& needed,
                                               int prefetch, bool stays = true);

}  // namespace parbench
