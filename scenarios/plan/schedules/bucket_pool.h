// Placement of buckets of divided parameters and gradients in a pool of memory: a pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"

namespace parbench {

/// A bucket of parameters or gradients in a pool that other buckets use before and after it.
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

/// Assigns an offset to every bucket. `staying`: buckets that are kept for later segments
/// (`holdings_of`), used if the pool then fits the maximum size; otherwise `leaving`. Buckets that
/// would exceed the size are kept as briefly as possible: parameters do not arrive early, and
/// gradients are kept only until the segment that completes them. Other gradients are kept one
/// segment longer, so that the next segment does not wait until they are reduced.
[[nodiscard]] BucketPool bucket_pool(const std::vector<PooledBucket>& staying,
                                     const std::vector<PooledBucket>& leaving,
                                     const PoolSize& size);

}  // namespace parbench
