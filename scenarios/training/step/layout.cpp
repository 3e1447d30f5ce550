// Counts samples of a layout, and lists its points.
#include "scenarios/training/step/layout.h"

#include <iterator>
#include <numeric>

namespace parbench {

std::int64_t StepLayout::samples_of(int replica) const {
  const auto& samples = micro_batches.at(static_cast<std::size_t>(replica));
  return std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
}

std::int64_t StepLayout::samples() const {
  std::int64_t sum = 0;
  for (int replica = 0; replica < grid.replicas; ++replica) sum += samples_of(replica);
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
