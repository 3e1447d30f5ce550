// Replays the lifetimes of buckets in a region of memory.
#include "scenarios/plan/schedules/bucket_pool.h"

#include <algorithm>

#include "scenarios/plan/region.h"

namespace parbench {
namespace {

/// Number of steps for which memory of gradients is kept after the step that completes them, so
/// that the next step does not wait until they are reduced.
constexpr int steps_behind_completion = 1;

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
  int last_step = -1;
  for (const PooledBucket& one : buckets) last_step = std::max(last_step, one.when.last);
  for (int step = 0; step <= last_step; ++step) {
    for (const PooledBucket& one : buckets) {
      if (one.when.last == step - 1) complete.push_back(&one);
    }
    release([&](const PooledBucket& one) {
      return one.when.last + (one.has_gradients ? steps_behind_completion : 0) < step;
    });
    for (PooledBucket& one : buckets) {
      if (one.when.begin != step) continue;
      if (exceeds_limit(one)) release([](const PooledBucket&) { return true; });
      if (one.when.first > step && exceeds_limit(one)) {
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
  // Holes between buckets may make the pool larger than its limit.
  for (const std::size_t tried : {limit, (smallest.bytes + limit) / 2}) {
    BucketPool pool = placed(stays ? staying : leaving, tried);
    if (pool.bytes <= limit) return pool;
  }
  return smallest;
}

}  // namespace parbench
