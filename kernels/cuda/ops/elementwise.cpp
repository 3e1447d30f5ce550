// Activation functions, their backward steps, addition and scaling, on activations.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/layers/activation_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Addresses in the order of the operation's arguments, all of one shape and type.
using Addresses = std::span<std::byte* const>;

/// Calls launch(description, addresses, count, stream) at each execution.
template <class Desc>
class ElementwiseOp final : public CudaOp {
 public:
  using Launch = void (*)(const Desc& desc, Addresses at, std::int64_t count, cudaStream_t stream);

  ElementwiseOp(CudaDevice& device, const Desc& desc, Launch launch)
      : CudaOp(device, desc), desc_(desc), launch_(launch), count_(element_count(desc.shape)) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, Addresses arguments) override {
    launch_(desc_, arguments, count_, stream.handle());
  }

 private:
  Desc desc_;
  Launch launch_;
  std::int64_t count_;
};

template <class Desc>
Planned elementwise(CudaDevice& device, const Desc& desc,
                    typename ElementwiseOp<Desc>::Launch launch) {
  return std::make_unique<ElementwiseOp<Desc>>(device, desc, launch);
}

void launch_activation(const ActivationForward& desc, Addresses at, std::int64_t count,
                       cudaStream_t stream) {
  activate(at[1], at[0], {desc.kind, desc.low, desc.high}, desc.dtype, count, stream);
}

void launch_gradient(const ActivationBackward& desc, Addresses at, std::int64_t count,
                     cudaStream_t stream) {
  activation_gradient(at[2], at[0], at[1], {desc.kind, desc.low, desc.high}, desc.dtype, count,
                      stream);
}

void launch_add(const Add& desc, Addresses at, std::int64_t count, cudaStream_t stream) {
  add(at[2], at[0], at[1], desc.dtype, count, stream);
}

void launch_scale(const Scale& desc, Addresses at, std::int64_t count, cudaStream_t stream) {
  scale(at[1], at[0], {desc.factor, desc.addend}, desc.dtype, count, stream);
}

}  // namespace

Planned plan(CudaDevice& device, const ActivationForward& desc) {
  return elementwise(device, desc, launch_activation);
}

Planned plan(CudaDevice& device, const ActivationBackward& desc) {
  return elementwise(device, desc, launch_gradient);
}

Planned plan(CudaDevice& device, const Add& desc) { return elementwise(device, desc, launch_add); }

Planned plan(CudaDevice& device, const Scale& desc) {
  return elementwise(device, desc, launch_scale);
}

}  // namespace parbench::cuda
