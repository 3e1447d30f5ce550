// How data parallelism divides a batch over devices and gradients into buckets: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parbench {

/// The samples of each part of a batch, divided as torch.chunk does: equal parts with a smaller
/// last one, and fewer than `max_parts` where the rounded size leaves nothing for the rest. 30 in 4
/// is 8, 8, 8, 6; 5 in 4 is 2, 2, 1. Throws std::invalid_argument unless both are at least 1.
[[nodiscard]] std::vector<std::int64_t> divided_batch(std::int64_t samples, int max_parts);

/// The bytes [begin, end) of flat gradients.
struct GradientBucket {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const GradientBucket&, const GradientBucket&) = default;
};

/// Groups neighbouring gradients from the last one back, in the order in which a backward pass
/// computes them. Like those of PyTorch's DistributedDataParallel, a bucket ends with the gradient
/// that brings it to `bucket_bytes`. `offsets` are where gradients begin, ascending from 0; the
/// buckets cover all of `total_bytes`.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(const std::vector<std::size_t>& offsets,
                                                           std::size_t total_bytes,
                                                           std::size_t bucket_bytes);

}  // namespace parbench
