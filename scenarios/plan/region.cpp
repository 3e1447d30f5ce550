// Best fit with coalescing.
#include "scenarios/plan/region.h"

#include <iterator>
#include <stdexcept>

#include "kernels/base/round_up.h"

namespace parbench {

std::optional<std::size_t> RegionPlanner::acquire_hole(std::size_t bytes) {
  const std::size_t size = round_up(bytes, alignment);
  auto best = free_.end();
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second >= size && (best == free_.end() || hole->second < best->second)) best = hole;
  }
  if (best == free_.end()) return std::nullopt;
  const auto [offset, hole] = *best;
  free_.erase(best);
  if (hole > size) free_[offset + size] = hole - size;
  held_[offset] = size;
  return offset;
}

std::size_t RegionPlanner::acquire(std::size_t bytes) {
  if (const auto hole = acquire_hole(bytes)) return *hole;
  const std::size_t size = round_up(bytes, alignment);
  std::size_t offset = peak_;
  // A free block at the end of the region becomes the first part of the new block.
  if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == peak_) {
    offset = std::prev(free_.end())->first;
    free_.erase(std::prev(free_.end()));
  }
  peak_ = offset + size;
  held_[offset] = size;
  return offset;
}

void RegionPlanner::release(std::size_t offset) {
  const auto held = held_.find(offset);
  if (held == held_.end()) throw std::logic_error("a region was released that is not held");
  std::size_t size = held->second;
  held_.erase(held);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return;
    }
  }
  free_[offset] = size;
}

}  // namespace parbench
