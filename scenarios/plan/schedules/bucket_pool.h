// Placement of buckets of divided parameters and gradients in a pool of memory: a pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"

namespace parbench {

/// A bucket of parameters or gradients in a pool. Before and after it, other buckets may use its
/// memory.
struct PooledBucket {
  bool has_gradients = false;  // false: parameters
  Holding when;
  std::size_t bytes = 0;
  std::size_t offset = 0;  // offset in the pool
};

struct BucketPool {
  std::vector<PooledBucket> buckets;
  std::size_t bytes = 0;
};

/// Wanted and maximum size of a pool in bytes. The pool exceeds them if even the smallest possible
/// pool does.
struct PoolSize {
  std::size_t wished = 0;
  std::size_t max = 0;
};

/// Assigns an offset to every bucket. `staying`, `leaving`: the buckets with the lifetimes that
/// `holdings_of` returns with and without `stays`; `staying` is used if its smallest pool does not
/// exceed the maximum size. Gradients occupy memory for one segment longer than their lifetime, so
/// that the next segment does not wait until they are reduced. Where the pool would exceed one of
/// the sizes, gradients are dropped at the end of their lifetime, and a bucket that is not yet
/// needed arrives later.
[[nodiscard]] BucketPool bucket_pool(const std::vector<PooledBucket>& staying,
                                     const std::vector<PooledBucket>& leaving,
                                     const PoolSize& size);

}  // namespace parbench
