// Division of a batch over devices, and of gradients into buckets, for data parallelism: pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parbench {

/// Returns the number of samples of each part of a batch, divided as by torch.chunk: parts of the
/// size samples / max_parts, rounded up, the last of which may be smaller. There are fewer than
/// `max_parts` if no samples remain for the others. 30 in 4 is 8, 8, 8, 6; 5 in 4 is 2, 2, 1.
/// Throws std::invalid_argument unless both arguments are at least 1.
[[nodiscard]] std::vector<std::int64_t> divided_batch(std::int64_t samples, int max_parts);

/// The byte range [begin, end) of a bucket in a flat region of gradients.
struct GradientBucket {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const GradientBucket&, const GradientBucket&) = default;
};

/// Groups adjacent gradients from the last to the first, the order in which a backward pass
/// computes them. As in PyTorch's DistributedDataParallel, a bucket ends with the gradient that
/// brings it to `bucket_bytes`. `offsets`: beginnings of gradients, ascending from 0; the buckets
/// cover all `total_bytes`.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(const std::vector<std::size_t>& offsets,
                                                           std::size_t total_bytes,
                                                           std::size_t bucket_bytes);

}  // namespace parbench
