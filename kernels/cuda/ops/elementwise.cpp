// ReLU, its backward step, and addition, on activations.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Arguments in the operation's order, all of one shape and type.
using Addresses = std::span<std::byte* const>;
using Launch = void (*)(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream);

class ElementwiseOp final : public CudaOp {
 public:
  template <class Desc>
  ElementwiseOp(CudaDevice& device, const Desc& desc, Launch launch)
      : CudaOp(device, desc),
        launch_(launch),
        dtype_(desc.dtype),
        count_(element_count(desc.shape)) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, Addresses arguments) override {
    launch_(arguments, dtype_, count_, stream.handle());
  }

 private:
  Launch launch_;
  DType dtype_;
  std::int64_t count_;
};

void launch_relu(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  relu(at[1], at[0], dtype, count, stream);
}

void launch_gate(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  gate(at[2], at[0], at[1], dtype, count, stream);
}

void launch_add(Addresses at, DType dtype, std::int64_t count, cudaStream_t stream) {
  add(at[2], at[0], at[1], dtype, count, stream);
}

}  // namespace

Planned plan(CudaDevice& device, const ReluForward& desc) {
  return std::make_unique<ElementwiseOp>(device, desc, launch_relu);
}

Planned plan(CudaDevice& device, const ReluBackward& desc) {
  return std::make_unique<ElementwiseOp>(device, desc, launch_gate);
}

Planned plan(CudaDevice& device, const Add& desc) {
  return std::make_unique<ElementwiseOp>(device, desc, launch_add);
}

}  // namespace parbench::cuda
