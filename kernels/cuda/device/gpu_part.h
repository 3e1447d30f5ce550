// Devices that consist of some of a GPU's multiprocessors: green contexts.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <vector>

namespace parbench::cuda {

struct Driver;

/// Constraints on the division of a GPU's multiprocessors.
struct Divisibility {
  int multiprocessors = 0;
  int min = 1;       // minimum number of multiprocessors of a part
  int multiple = 1;  // the number of multiprocessors of a part is a multiple of this
  friend bool operator==(const Divisibility&, const Divisibility&) = default;
};

/// Returns the constraints that the driver reports in `whole`, the multiprocessors of the GPU, or
/// with older drivers those of its architecture (source: CUDA driver API, green contexts).
/// `compute_capability`: 90 for 9.0.
[[nodiscard]] Divisibility divisibility(const CUdevSmResource& whole, int compute_capability);

/// Returns the number of equal groups of at least `multiprocessors` into which a GPU can be
/// divided.
using GroupCount = std::function<int(int multiprocessors)>;

/// Returns the number of multiprocessors of each of `parts` equal parts: the largest number for
/// which `groups` returns at least `parts`. Clusters of multiprocessors are indivisible, so there
/// may be fewer groups than the total suggests. Returns 0 if there are too few multiprocessors.
[[nodiscard]] int part_size(const Divisibility& gpu, int parts, const GroupCount& groups);

/// A green context and its multiprocessors.
class GpuPart {
 public:
  GpuPart(CUgreenCtx green, int multiprocessors);
  ~GpuPart();
  GpuPart(const GpuPart&) = delete;
  GpuPart& operator=(const GpuPart&) = delete;

  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  /// Makes the part current: the runtime library then uses this part's multiprocessors, and the
  /// primary context of the GPU, whose memory and modules all parts share.
  void make_current() const;
  [[nodiscard]] CUstream create_stream() const;

 private:
  CUgreenCtx green_ = nullptr;
  CUcontext context_ = nullptr;
  int multiprocessors_ = 0;
};

/// Returns the maximum number of parts into which a GPU can be divided; 1 if the driver cannot
/// divide it, as with virtual GPUs. Whole GPUs can still be used, and `divide` throws the reason.
[[nodiscard]] int max_parts_of(int ordinal);
[[nodiscard]] int max_parts_of(int ordinal, const Driver& driver);

/// Divides a GPU into `parts` equal parts without common multiprocessors. Throws Unsupported if the
/// driver cannot divide it, and UsageError for too many parts, with the remedy.
[[nodiscard]] std::vector<std::unique_ptr<GpuPart>> divide(int ordinal, int parts);

}  // namespace parbench::cuda
