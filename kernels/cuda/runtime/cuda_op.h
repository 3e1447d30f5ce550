// Base of every CUDA operation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/described_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// Implementation name of operations that run on kernels of this project.
inline constexpr std::string_view own_kernel = "CUDA kernel";

inline float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

/// Addresses of the arguments of an operation, in the order of `arguments()`.
using Addresses = std::span<std::byte* const>;

class CudaOp : public DescribedOp {
 public:
  /// Adds the operation's tensors: activations in the device's layout, weights of convolutions and
  /// their gradients with channels last, opaque operands with `opaque_bytes` bytes, others as
  /// described.
  CudaOp(CudaDevice& device, const OpDesc& desc, std::size_t opaque_bytes = 0);

  [[nodiscard]] CudaDevice& device() const { return device_; }

  void enqueue(Stream& stream, std::span<const BufferView> views) final;

  /// Returns whether `execute` has not been called with such addresses, whose alignment decides
  /// among kernels; the driver may then have to load kernels.
  [[nodiscard]] bool begins_first_run(Addresses arguments);

  /// Launches the operation's kernels on the stream; the device must be current. Scratch memory is
  /// at `stream.scratch()`, at the offsets that `add_scratch` returned. Implementations must
  /// neither allocate memory nor wait for the stream.
  virtual void execute(CudaStream& stream, Addresses arguments) = 0;

 private:
  CudaDevice& device_;
  std::array<bool, 2> has_run_{};  // by whether all addresses are aligned for vectors
};

/// Memory that a KernelOp needs, and the name of its implementation.
struct KernelNeeds {
  std::size_t opaque_bytes = 0;   // bytes of each opaque operand
  std::size_t scratch_bytes = 0;  // bytes at the beginning of the stream's scratch memory
  std::string implementation = std::string(own_kernel);
};

/// An operation that is executed by calling a function with the stream and the addresses of the
/// arguments.
template <class Launch>
class KernelOp final : public CudaOp {
 public:
  KernelOp(CudaDevice& device, const OpDesc& desc, const KernelNeeds& needs, Launch launch)
      : CudaOp(device, desc, needs.opaque_bytes), launch_(std::move(launch)) {
    add_scratch(needs.scratch_bytes);
    set_implementation(needs.implementation);
  }

  void execute(CudaStream& stream, Addresses arguments) override { launch_(stream, arguments); }

 private:
  Launch launch_;
};

template <class Launch>
std::unique_ptr<CudaOp> kernel_op(CudaDevice& device, const OpDesc& desc, const KernelNeeds& needs,
                                  Launch launch) {
  return std::make_unique<KernelOp<Launch>>(device, desc, needs, std::move(launch));
}

template <class Launch>
std::unique_ptr<CudaOp> kernel_op(CudaDevice& device, const OpDesc& desc, Launch launch) {
  return kernel_op(device, desc, {}, std::move(launch));
}

}  // namespace parbench::cuda
