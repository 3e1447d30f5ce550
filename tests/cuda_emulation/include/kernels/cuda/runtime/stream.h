// Takes the place of kernels/cuda/runtime/stream.h: what is enqueued has run when the call returns.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <span>

#include "kernels/core/stream.h"
#include "kernels/cuda/device_code/arrival_counters.h"

namespace parbench::cuda {

class CudaDevice;
class CudaOp;

class CudaStream final : public Stream {
 public:
  explicit CudaStream(CudaDevice& device);

  [[nodiscard]] Device& device() const override;
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return scratch_.bytes(); }
  void copy(BufferView destination, BufferView source) override;
  void record(Event& /*event*/) override {}
  void wait(Event& /*event*/) override {}
  void synchronize(std::chrono::milliseconds /*limit*/) override {}

  /// Memory around the views, and scratch memory that the operation has not asked for, are out of
  /// bounds to the address sanitizer meanwhile; scratch memory holds NaNs at first. Throws
  /// std::logic_error when counters are left that are not zero.
  void execute(CudaOp& op, std::span<const BufferView> views);

  [[nodiscard]] cudaStream_t handle() const { return nullptr; }
  [[nodiscard]] std::byte* scratch() const { return scratch_.data(); }
  [[nodiscard]] unsigned int* counters() const { return counters_.data(); }

 private:
  void grow_scratch(std::size_t bytes) override;

  CudaDevice& device_;
  mutable std::array<unsigned int, arrival_counters> counters_{};
  Buffer scratch_;
};

}  // namespace parbench::cuda
