// Updates of optimisers, and gradient clipping.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/optimisers/optimiser_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Returns the factor of clipped gradients, which is the last argument; null without clipping.
const float* clipping_factor(bool clipped, Addresses arguments) {
  return clipped ? floats(arguments.back()) : nullptr;
}

/// Returns the share of a parameter that decoupled weight decay keeps.
float kept_share(const Adam& desc) {
  const double decay = double{desc.learning_rate} * double{desc.weight_decay};
  return desc.decoupled ? static_cast<float>(1 - decay) : 1;
}

}  // namespace

Planned plan(CudaDevice& device, const Sgd& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    float* parameters = floats(at[0]);
    const float* gradients = floats(at[1]);
    const float* factor = clipping_factor(desc.clipped, at);
    if (desc.momentum > 0) {
      const MomentumUpdate update{.parameters = parameters,
                                  .gradients = gradients,
                                  .velocity = floats(at[2]),
                                  .factor = factor,
                                  .rate = desc.learning_rate,
                                  .momentum = desc.momentum};
      descend_with_momentum(update, desc.count, stream.handle());
    } else if (desc.clipped) {
      descend_clipped(parameters, gradients, factor, desc.learning_rate, desc.count,
                      stream.handle());
    } else {
      descend(parameters, gradients, desc.learning_rate, desc.count, stream.handle());
    }
  });
}

Planned plan(CudaDevice& device, const Adam& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    const AdamUpdate update{.parameters = floats(at[0]),
                            .gradients = floats(at[1]),
                            .first_moment = floats(at[2]),
                            .second_moment = floats(at[3]),
                            .steps = at[4],
                            .factor = clipping_factor(desc.clipped, at),
                            .rate = desc.learning_rate,
                            .beta1 = desc.beta1,
                            .beta2 = desc.beta2,
                            .epsilon = desc.epsilon,
                            .coupled_decay = desc.decoupled ? 0 : desc.weight_decay,
                            .kept = kept_share(desc)};
    descend_by_adam(update, desc.count, stream.counters(), stream.handle());
  });
}

Planned plan(CudaDevice& device, const SquaredNorm& desc) {
  const auto partials = static_cast<std::size_t>(squared_norm_partials(desc.count));
  const KernelNeeds needs{.scratch_bytes = sizeof(double) * partials};
  return kernel_op(device, desc, needs, [count = desc.count](CudaStream& stream, Addresses at) {
    squared_norm(floats(at[1]), floats(at[0]), reinterpret_cast<double*>(stream.scratch()), count,
                 stream.counters(), stream.handle());
  });
}

Planned plan(CudaDevice& device, const ClipFactor& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    clip_factor(floats(at[1]), floats(at[0]), desc.parts, desc.max_norm, stream.handle());
  });
}

}  // namespace parbench::cuda
