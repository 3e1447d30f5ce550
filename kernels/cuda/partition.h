// Parts of a GPU's multiprocessors as devices of their own: green contexts.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

namespace parbench::cuda {

/// Multiprocessors of each of `parts` equal parts: as many as there are for each, in steps of what
/// the architecture can divide by. 0 when there are too few.
[[nodiscard]] int partition_size(int multiprocessors, int parts, int granularity);

/// The step in which an architecture's multiprocessors can be divided; also the least number of a
/// part. `compute_capability`: 90 for 9.0. Source: CUDA driver API, cuDevSmResourceSplitByCount.
[[nodiscard]] int partition_granularity(int compute_capability);

/// A green context and its multiprocessors.
class Partition {
 public:
  Partition(CUgreenCtx green, int multiprocessors);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  void make_current() const;
  [[nodiscard]] CUstream create_stream() const;

 private:
  CUgreenCtx green_ = nullptr;
  CUcontext context_ = nullptr;
  int multiprocessors_ = 0;
};

/// Divides a GPU into `parts` equal ones that share no multiprocessor. Throws Unsupported when the
/// driver or the GPU cannot, with what would mend it.
[[nodiscard]] std::vector<std::unique_ptr<Partition>> divide(int ordinal, int parts);

}  // namespace parbench::cuda
