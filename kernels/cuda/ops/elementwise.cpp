// Activation functions, their backward operations, addition and scaling, on activations.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/layers/activation_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const ActivationForward& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    activate(at[1], at[0], {desc.kind, desc.low, desc.high}, desc.dtype, element_count(desc.shape),
             stream.handle());
  });
}

Planned plan(CudaDevice& device, const ActivationBackward& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    activation_gradient(at[2], at[0], at[1], {desc.kind, desc.low, desc.high}, desc.dtype,
                        element_count(desc.shape), stream.handle());
  });
}

Planned plan(CudaDevice& device, const Add& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    add(at[2], at[0], at[1], desc.dtype, element_count(desc.shape), stream.handle());
  });
}

Planned plan(CudaDevice& device, const Scale& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    scale(at[1], at[0], {desc.factor, desc.addend}, desc.dtype, element_count(desc.shape),
          stream.handle());
  });
}

}  // namespace parbench::cuda
