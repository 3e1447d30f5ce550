// Keeps a stream busy for a known time.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/spin_kernel.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Returns zeroed device memory, after waiting until every stream sees the zeros.
Buffer zero(CudaDevice& device, std::size_t bytes) {
  Buffer buffer = device.allocate(bytes, MemoryKind::device);
  const cudaStream_t stream = device.create_stream();
  cudaError_t status = cudaMemsetAsync(buffer.data(), 0, bytes, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  (void)cudaStreamDestroy(stream);
  PARBENCH_CUDA(status);
  return buffer;
}

class SpinOp final : public CudaOp {
 public:
  SpinOp(CudaDevice& device, const Spin& desc)
      : CudaOp(device, desc),
        time_{std::chrono::duration<double, std::nano>(desc.duration).count(), desc.noise,
              desc.seed},
        executions_(zero(device, sizeof(std::uint64_t))) {
    // The mean duration is the same with and without noise.
    set_seconds(std::chrono::duration<double>(desc.duration).count());
    set_implementation("CUDA kernel, globaltimer");
  }

  // The factor depends on the executions of this operation, not on the counter, so that resetting
  // the counter does not repeat the noise.
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    spin(reinterpret_cast<std::uint64_t*>(arguments[0]),
         reinterpret_cast<std::uint64_t*>(executions_.data()), time_, stream.handle());
  }

 private:
  SpinTime time_;
  Buffer executions_;
};

}  // namespace

Planned plan(CudaDevice& device, const Spin& desc) {
  return std::make_unique<SpinOp>(device, desc);
}

}  // namespace parbench::cuda
