// Steps of optimisers and gradient clipping.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/optimisers/optimiser_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Returns the factor of clipped gradients, which is the last argument; null without clipping.
const float* clipping_factor(bool clipped, std::span<std::byte* const> arguments) {
  return clipped ? floats(arguments.back()) : nullptr;
}

class SgdOp final : public CudaOp {
 public:
  SgdOp(CudaDevice& device, const Sgd& desc) : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    float* parameters = floats(arguments[0]);
    const float* gradients = floats(arguments[1]);
    const float* factor = clipping_factor(desc_.clipped, arguments);
    if (desc_.momentum > 0) {
      const MomentumStep step{.parameters = parameters,
                              .gradients = gradients,
                              .velocity = floats(arguments[2]),
                              .factor = factor,
                              .rate = desc_.learning_rate,
                              .momentum = desc_.momentum};
      descend_with_momentum(step, desc_.count, stream.handle());
    } else if (desc_.clipped) {
      descend_clipped(parameters, gradients, factor, desc_.learning_rate, desc_.count,
                      stream.handle());
    } else {
      descend(parameters, gradients, desc_.learning_rate, desc_.count, stream.handle());
    }
  }

 private:
  Sgd desc_;
};

class AdamOp final : public CudaOp {
 public:
  AdamOp(CudaDevice& device, const Adam& desc) : CudaOp(device, desc), desc_(desc) {
    const double decay = double{desc.learning_rate} * double{desc.weight_decay};
    if (desc.decoupled) kept_ = static_cast<float>(1 - decay);
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const AdamStep step{.parameters = floats(arguments[0]),
                        .gradients = floats(arguments[1]),
                        .first_moment = floats(arguments[2]),
                        .second_moment = floats(arguments[3]),
                        .steps = arguments[4],
                        .factor = clipping_factor(desc_.clipped, arguments),
                        .rate = desc_.learning_rate,
                        .beta1 = desc_.beta1,
                        .beta2 = desc_.beta2,
                        .epsilon = desc_.epsilon,
                        .coupled_decay = desc_.decoupled ? 0 : desc_.weight_decay,
                        .kept = kept_};
    descend_by_adam(step, desc_.count, stream.counters(), stream.handle());
  }

 private:
  Adam desc_;
  float kept_ = 1;  // share of a parameter that decoupled weight decay keeps
};

class SquaredNormOp final : public CudaOp {
 public:
  SquaredNormOp(CudaDevice& device, const SquaredNorm& desc)
      : CudaOp(device, desc), count_(desc.count) {
    add_scratch(sizeof(double) * static_cast<std::size_t>(squared_norm_partials(count_)));
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    squared_norm(floats(arguments[1]), floats(arguments[0]),
                 reinterpret_cast<double*>(stream.scratch()), count_, stream.counters(),
                 stream.handle());
  }

 private:
  std::int64_t count_;
};

class ClipFactorOp final : public CudaOp {
 public:
  ClipFactorOp(CudaDevice& device, const ClipFactor& desc) : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    clip_factor(floats(arguments[1]), floats(arguments[0]), desc_.parts, desc_.max_norm,
                stream.handle());
  }

 private:
  ClipFactor desc_;
};

}  // namespace

Planned plan(CudaDevice& device, const Sgd& desc) { return std::make_unique<SgdOp>(device, desc); }

Planned plan(CudaDevice& device, const Adam& desc) {
  return std::make_unique<AdamOp>(device, desc);
}

Planned plan(CudaDevice& device, const SquaredNorm& desc) {
  return std::make_unique<SquaredNormOp>(device, desc);
}

Planned plan(CudaDevice& device, const ClipFactor& desc) {
  return std::make_unique<ClipFactorOp>(device, desc);
}

}  // namespace parbench::cuda
