// Local response normalisation and its backward pass, by kernels of this project.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/local_response_norm_kernels.h"
#include "kernels/cuda/ops/images/pixels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

template <class Desc>
ResponseNorm response_norm_of(const Desc& desc) {
  return {.rows = pixels_of(desc.shape),
          .channels = desc.shape[1],
          .reach = desc.size / 2,
          .scale = desc.alpha / static_cast<float>(desc.size),
          .beta = desc.beta,
          .offset = desc.offset};
}

/// Returns the memory for the bases of the powers, which the forward pass saves.
KernelNeeds with_bases(const Shape& shape) {
  return {.opaque_bytes = static_cast<std::size_t>(element_count(shape)) * sizeof(float)};
}

}  // namespace

Planned plan(CudaDevice& device, const LocalResponseNormForward& desc) {
  return kernel_op(device, desc, with_bases(desc.shape), [desc](CudaStream& stream, Addresses at) {
    normalise_responses(at[1], floats(at[2]), at[0], desc.dtype, response_norm_of(desc),
                        stream.handle());
  });
}

Planned plan(CudaDevice& device, const LocalResponseNormBackward& desc) {
  return kernel_op(device, desc, with_bases(desc.shape), [desc](CudaStream& stream, Addresses at) {
    normalise_responses_backward(at[3], at[1], at[0], floats(at[2]), desc.dtype,
                                 response_norm_of(desc), stream.handle());
  });
}

}  // namespace parbench::cuda
