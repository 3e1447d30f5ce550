// Division of parameters over devices for data parallelism, and their lifetimes in memory: pure
// functions.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/data_parallel.h"

namespace parbench {

/// Groups adjacent parameters from the last to the first, as `gradient_buckets` does, except that a
/// parameter of at least `bucket_bytes` shares its bucket only with parameters of less than a
/// quarter of `bucket_bytes` in total. Devices reserve memory for whole buckets, so a bucket should
/// not exceed `bucket_bytes` by much.
[[nodiscard]] std::vector<GradientBucket> shard_buckets(const std::vector<std::size_t>& offsets,
                                                        std::size_t total_bytes,
                                                        std::size_t bucket_bytes);

/// Division of flat f32 numbers into buckets, each of which is divided evenly over all devices. A
/// device's shard consists of its blocks of all buckets, one after the other. Offsets and sizes are
/// in bytes.
class ShardLayout {
 public:
  ShardLayout(std::vector<GradientBucket> buckets, std::size_t devices);

  [[nodiscard]] std::size_t devices() const { return shard_bytes_.size(); }
  [[nodiscard]] const std::vector<GradientBucket>& buckets() const { return buckets_; }
  [[nodiscard]] std::size_t bucket_bytes(std::size_t bucket) const {
    return buckets_[bucket].end - buckets_[bucket].begin;
  }
  /// Throws std::out_of_range for an offset after the last bucket.
  [[nodiscard]] std::size_t bucket_at(std::size_t offset) const;

  /// A device's part of a bucket.
  struct Block {
    std::size_t device = 0;
    std::size_t bucket = 0;
    std::size_t begin = 0;  // offset in the bucket
    std::size_t bytes = 0;
    std::size_t in_shard = 0;  // offset in the device's shard
  };
  [[nodiscard]] const Block& block(std::size_t device, std::size_t bucket) const {
    return blocks_[bucket][device];
  }
  [[nodiscard]] std::size_t shard_bytes(std::size_t device) const { return shard_bytes_[device]; }

  /// Divides the bytes [offset, offset + bytes) of the flat numbers at the boundaries of blocks.
  /// Returns the parts of blocks, in order.
  [[nodiscard]] std::vector<Block> parts_of(std::size_t offset, std::size_t bytes) const;

 private:
  std::vector<GradientBucket> buckets_;
  std::vector<std::vector<Block>> blocks_;  // by bucket and device
  std::vector<std::size_t> shard_bytes_;
};

/// A bucket and the consecutive segments during which it is in memory, from `begin` to `last`.
struct Holding {
  std::size_t bucket = 0;
  int begin = 0;  // segment during which it arrives
  int first = 0;  // first segment that needs it, usually `prefetch` segments after `begin`
  int last = 0;   // last segment that needs it
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Returns the times during which buckets are in memory, sorted by `begin`, then by `first`.
/// `needed`: the buckets that each segment needs. A bucket arrives `prefetch` segments before the
/// segment that needs it and is dropped after that segment. It is kept instead if the next segment
/// needs it or, with `stays`, if it would arrive again during the next segment or earlier.
[[nodiscard]] std::vector<Holding> holdings_of(const std::vector<std::vector<std::size_t>>& needed,
                                               int prefetch, bool stays = true);

}  // namespace parbench
