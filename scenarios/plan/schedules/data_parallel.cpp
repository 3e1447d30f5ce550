// Division of batches and of gradients.
#include "scenarios/plan/schedules/data_parallel.h"

#include <stdexcept>

namespace parbench {

std::vector<std::int64_t> divided_batch(std::int64_t samples, int max_parts) {
  if (samples < 1 || max_parts < 1) {
    throw std::invalid_argument("a batch is divided into parts of at least one sample");
  }
  const std::int64_t size = (samples + max_parts - 1) / max_parts;
  std::vector<std::int64_t> parts(static_cast<std::size_t>(samples / size), size);
  if (samples % size != 0) parts.push_back(samples % size);
  return parts;
}

std::vector<GradientBucket> gradient_buckets(const std::vector<std::size_t>& offsets,
                                             std::size_t total_bytes, std::size_t bucket_bytes) {
  std::vector<GradientBucket> buckets;
  std::size_t end = total_bytes;
  for (auto begin = offsets.rbegin(); begin != offsets.rend(); ++begin) {
    const bool is_full = end - *begin >= bucket_bytes;
    if (!is_full && *begin > 0) continue;
    buckets.push_back({.begin = *begin, .end = end});
    end = *begin;
  }
  return buckets;
}

}  // namespace parbench
