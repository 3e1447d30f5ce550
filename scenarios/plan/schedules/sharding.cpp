// Blocks of shards, and lifetimes of gathered buckets.
#include "scenarios/plan/schedules/sharding.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace parbench {
namespace {

/// Parameters after a large parameter, such as its bias, share its bucket if they are smaller than
/// 1/parts_of_own of a bucket in total.
constexpr std::size_t parts_of_own = 4;

}  // namespace

std::vector<GradientBucket> shard_buckets(const std::vector<std::size_t>& offsets,
                                          std::size_t total_bytes, std::size_t bucket_bytes) {
  std::vector<GradientBucket> buckets;
  std::size_t end = total_bytes;      // end of the bucket
  std::size_t own_end = total_bytes;  // end of the parameter at `begin`
  for (auto begin = offsets.rbegin(); begin != offsets.rend(); ++begin) {
    const bool is_large = own_end - *begin >= bucket_bytes;
    if (is_large && end > own_end && end - own_end >= bucket_bytes / parts_of_own) {
      buckets.push_back({.begin = own_end, .end = end});
      end = own_end;
    }
    own_end = *begin;
    const bool is_full = end - *begin >= bucket_bytes;
    if (!is_full && *begin > 0) continue;
    buckets.push_back({.begin = *begin, .end = end});
    end = *begin;
  }
  return buckets;
}

ShardLayout::ShardLayout(std::vector<GradientBucket> buckets, std::size_t devices)
    : buckets_(std::move(buckets)), shard_bytes_(devices, 0) {
  if (devices == 0) throw std::invalid_argument("shards need at least one device");
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const std::size_t floats = bucket_bytes(b) / sizeof(float);
    std::vector<Block>& blocks = blocks_.emplace_back();
    std::size_t begin = 0;
    for (std::size_t device = 0; device < devices; ++device) {
      const std::size_t count = floats / devices + (device < floats % devices ? 1 : 0);
      blocks.push_back({.device = device,
                        .bucket = b,
                        .begin = begin,
                        .bytes = count * sizeof(float),
                        .in_shard = shard_bytes_[device]});
      begin += blocks.back().bytes;
      shard_bytes_[device] += blocks.back().bytes;
    }
  }
}

std::size_t ShardLayout::bucket_at(std::size_t offset) const {
  const auto found = std::ranges::find_if(buckets_, [&](const GradientBucket& bucket) {
    return bucket.begin <= offset && offset < bucket.end;
  });
  if (found == buckets_.end()) throw std::out_of_range("no bucket has this offset");
  return static_cast<std::size_t>(found - buckets_.begin());
}

std::vector<ShardLayout::Block> ShardLayout::parts_of(std::size_t offset, std::size_t bytes) const {
  std::vector<Block> parts;
  const std::size_t end = offset + bytes;
  while (offset < end) {
    const std::size_t bucket = bucket_at(offset);
    const std::size_t base = buckets_[bucket].begin;
    for (const Block& block : blocks_[bucket]) {
      const std::size_t begin = std::max(block.begin, offset - base);
      const std::size_t stop = std::min(block.begin + block.bytes, end - base);
      if (begin >= stop) continue;
      Block part = block;
      part.begin = begin;
      part.bytes = stop - begin;
      part.in_shard += begin - block.begin;
      parts.push_back(part);
    }
    offset = std::min(buckets_[bucket].end, end);
  }
  return parts;
}

std::vector<Holding> holdings_of(const std::vector<std::vector<std::size_t>>& needed, int prefetch,
                                 bool stays) {
  std::vector<Holding> all;
  std::map<std::size_t, std::size_t> last_of;  // index of each bucket's last holding
  for (int segment = 0; segment < static_cast<int>(needed.size()); ++segment) {
    for (const std::size_t bucket : needed[static_cast<std::size_t>(segment)]) {
      int begin = std::max(0, segment - prefetch);
      if (const auto known = last_of.find(bucket); known != last_of.end()) {
        Holding& before = all[known->second];
        if ((stays ? begin : segment) <= before.last + 1) {
          before.last = segment;
          continue;
        }
        begin = std::max(begin, before.last + 1);
      }
      last_of[bucket] = all.size();
      all.push_back({.bucket = bucket, .begin = begin, .first = segment, .last = segment});
    }
  }
  std::ranges::stable_sort(all, {},
                           [](const Holding& one) { return std::tuple(one.begin, one.first); });
  return all;
}

}  // namespace parbench
