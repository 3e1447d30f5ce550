// Where buckets of divided parameters and gradients lie in a pool of memory: a pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"

namespace parbench {

/// A bucket in a pool that others use before and after it.
struct PooledBucket {
  bool has_gradients = false;  // else it has parameters
  Holding when;
  std::size_t bytes = 0;
  std::size_t offset = 0;  // in the pool
};

struct BucketPool {
  std::vector<PooledBucket> buckets;
  std::size_t bytes = 0;
};

/// Bytes of a pool, as far as its buckets fit.
struct PoolSize {
  std::size_t wished = 0;
  std::size_t max = 0;
};

/// Gives every bucket an offset. Where the pool would become larger than it should be, parameters
/// arrive no earlier than they are needed, and gradients stay no longer than until the step that
/// completes them; else they stay for another step, so that the next one does not wait until they
/// are reduced. `staying`: buckets that stay for later steps (`holdings_of`); they do where the
/// pool has room for that, else it has those of `leaving`.
[[nodiscard]] BucketPool bucket_pool(const std::vector<PooledBucket>& staying,
                                     const std::vector<PooledBucket>& leaving,
                                     const PoolSize& size);

}  // namespace parbench
