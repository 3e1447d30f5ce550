// Replays the lifetimes of buckets in a region of memory.
#include "scenarios/plan/schedules/bucket_pool.h"

#include <algorithm>

#include "scenarios/plan/region.h"

namespace parbench {
namespace {

/// Number of segments for which memory of gradients is kept after the segment that completes them.
/// If this memory were reused at once, the next segment would wait until the gradients are reduced.
constexpr int segments_after_completion = 1;

BucketPool placed(std::vector<PooledBucket> buckets, std::size_t limit) {
  RegionPlanner region;
  std::vector<const PooledBucket*> complete;
  const auto release = [&](const auto& is_over) {
    for (const PooledBucket* one : complete) {
      if (is_over(*one)) region.release(one->offset);
    }
    std::erase_if(complete, [&](const PooledBucket* one) { return is_over(*one); });
  };
  const auto exceeds_limit = [&](const PooledBucket& one) {
    RegionPlanner grown = region;
    static_cast<void>(grown.acquire(one.bytes));
    return grown.peak() > limit;
  };
  int last_segment = -1;
  for (const PooledBucket& one : buckets) last_segment = std::max(last_segment, one.when.last);
  for (int segment = 0; segment <= last_segment; ++segment) {
    for (const PooledBucket& one : buckets) {
      if (one.when.last == segment - 1) complete.push_back(&one);
    }
    release([&](const PooledBucket& one) {
      return one.when.last + (one.has_gradients ? segments_after_completion : 0) < segment;
    });
    for (PooledBucket& one : buckets) {
      if (one.when.begin != segment) continue;
      if (exceeds_limit(one)) release([](const PooledBucket&) { return true; });
      if (one.when.first > segment && exceeds_limit(one)) {
        ++one.when.begin;
      } else {
        one.offset = region.acquire(one.bytes);
      }
    }
  }
  return {.buckets = std::move(buckets), .bytes = region.peak()};
}

}  // namespace

BucketPool bucket_pool(const std::vector<PooledBucket>& staying,
                       const std::vector<PooledBucket>& leaving, const PoolSize& size) {
  BucketPool smallest = placed(staying, 0);
  const bool stays = smallest.bytes <= size.max;
  if (!stays) smallest = placed(leaving, 0);
  const std::size_t limit = std::max(smallest.bytes, std::min(size.wished, size.max));
  // Holes between buckets may make a pool larger than the limit for which its buckets were placed.
  // If so, try a lower limit.
  for (const std::size_t tried : {limit, (smallest.bytes + limit) / 2}) {
    BucketPool pool = placed(stays ? staying : leaving, tried);
    if (pool.bytes <= limit) return pool;
  }
  return smallest;
}

}  // namespace parbench
