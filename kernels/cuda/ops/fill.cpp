// Fills tensors from the counter-based generator, in any element type.
#include "kernels/cuda/device_code/fill_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

Planned plan(CudaDevice& device, const Fill& desc) {
  const KernelNeeds needs{.implementation = "CUDA kernel, philox4x32-10"};
  const UniformRange range = uniform_range(desc.low, desc.high);
  return kernel_op(device, desc, needs, [desc, range](CudaStream& stream, Addresses at) {
    const RandomStream random{desc.seed, desc.subsequence};
    switch (desc.distribution) {
      case Distribution::uniform:
        return fill_uniform(at[0], desc.dtype, desc.count, random, range, stream.handle());
      case Distribution::normal:
        return fill_normal(at[0], desc.dtype, desc.count, random, desc.low, desc.high,
                           stream.handle());
      case Distribution::constant:
        return fill_constant(at[0], desc.dtype, desc.count, desc.low, stream.handle());
    }
  });
}

}  // namespace parbench::cuda
