// Placement of buckets of divided parameters and gradients in a pool of memory: a pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"

namespace parbench {

/// A bucket of parameters or gradients in a pool whose memory other buckets use before and after
/// it.
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

/// Wanted and maximum size of a pool in bytes. The pool may be larger if its buckets do not fit.
struct PoolSize {
  std::size_t wished = 0;
  std::size_t max = 0;
};

/// Assigns an offset to every bucket. `staying`, `leaving`: alternatives that differ in whether
/// buckets are kept for later segments (`stays` of `holdings_of`); the first is used if its
/// smallest pool has at most the maximum size. Gradients stay in the pool for one segment after the
/// segment that completes them, so that the next segment does not wait until they are reduced. If
/// the pool would exceed the wanted size, buckets are held as briefly as possible: parameters
/// arrive later than planned, and complete gradients leave at once.
[[nodiscard]] BucketPool bucket_pool(const std::vector<PooledBucket>& staying,
                                     const std::vector<PooledBucket>& leaving,
                                     const PoolSize& size);

}  // namespace parbench
