// Sums over a layout.
#include "scenarios/training/step/layout.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace parbench {

std::int64_t StepLayout::samples() const {
  std::int64_t sum = 0;
  for (const auto& of_replica : micro_batches) {
    sum = std::accumulate(of_replica.begin(), of_replica.end(), sum);
  }
  return sum;
}

std::vector<GridPoint> StepLayout::points_of(int replica) const {
  std::vector<GridPoint> all;
  for (int stage = 0; stage < stages(); ++stage) {
    for (int shard = 0; shard < grid.shards; ++shard) all.push_back({replica, stage, shard});
  }
  return all;
}

std::vector<GridPoint> StepLayout::points() const {
  std::vector<GridPoint> all;
  for (int replica = 0; replica < grid.replicas; ++replica) {
    std::ranges::move(points_of(replica), std::back_inserter(all));
  }
  return all;
}

}  // namespace parbench
