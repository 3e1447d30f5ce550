// Base of every CUDA operation.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/core/described_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// Implementation name of operations that run on kernels of this project.
inline constexpr std::string_view own_kernel = "CUDA kernel";

inline float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

class CudaOp : public DescribedOp {
 public:
  /// Adds the operation's tensors: activations in the device's layout, weights of convolutions and
  /// their gradients with channels last, opaque operands with `opaque_bytes` bytes, others as
  /// described.
  CudaOp(CudaDevice& device, const OpDesc& desc, std::size_t opaque_bytes = 0);

  [[nodiscard]] CudaDevice& device() const { return device_; }

  void enqueue(Stream& stream, std::span<const BufferView> views) final;

  /// Launches its kernels on the stream; the device must be current. `arguments` are addresses in
  /// the order of `arguments()`; scratch memory is at `stream.scratch()`, at the offsets that
  /// `add_scratch` returned. Allocates nothing and waits for nothing.
  virtual void execute(CudaStream& stream, std::span<std::byte* const> arguments) = 0;

 private:
  CudaDevice& device_;
};

}  // namespace parbench::cuda
