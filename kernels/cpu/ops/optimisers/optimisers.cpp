// Steps of optimisers and gradient clipping, in loops of this project.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/optimisers/optimiser_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

using Addresses = std::span<std::byte* const>;

constexpr std::string_view optimiser_loop = "vector loop";

// Returns the factor of clipped gradients, which is the last argument; 1 without clipping.
float gradient_factor(bool clipped, Addresses arguments) {
  return clipped ? *floats(arguments.back()) : 1.0F;
}

class SgdOp final : public CpuOp {
 public:
  explicit SgdOp(const Sgd& desc)
      : CpuOp(desc), desc_(desc), count_(static_cast<std::size_t>(desc.count)) {
    add_tensors(*this);
    set_implementation(optimiser_loop);
  }

  void execute(const Execution& execution, Addresses arguments) override {
    const float factor = gradient_factor(desc_.clipped, arguments);
    float* parameters = floats(arguments[0]);
    const float* gradients = floats(arguments[1]);
    if (desc_.momentum > 0) {
      const MomentumStep step{desc_.learning_rate, desc_.momentum, factor};
      descend_with_momentum(parameters, gradients, floats(arguments[2]), step, count_,
                            execution.threads);
    } else {
      descend(parameters, gradients, desc_.learning_rate * factor, count_, execution.threads);
    }
  }

 private:
  Sgd desc_;
  std::size_t count_;
};

/// Increments the counter at an address and returns the new value.
std::uint64_t next_step(std::byte* counter) {
  std::uint64_t steps = 0;
  std::memcpy(&steps, counter, sizeof steps);
  ++steps;
  std::memcpy(counter, &steps, sizeof steps);
  return steps;
}

AdamStep adam_step(const Adam& desc, std::uint64_t number, float factor) {
  const auto power = static_cast<double>(number);
  const double first = 1 - std::pow(double{desc.beta1}, power);
  const double second = 1 - std::pow(double{desc.beta2}, power);
  const double decay = double{desc.learning_rate} * double{desc.weight_decay};
  return {.rate = static_cast<float>(double{desc.learning_rate} / first),
          .inverse_root = static_cast<float>(1 / std::sqrt(second)),
          .first_weight = 1 - desc.beta1,
          .second_weight = 1 - desc.beta2,
          .epsilon = desc.epsilon,
          .factor = factor,
          .coupled_decay = desc.decoupled ? 0 : desc.weight_decay,
          .kept = desc.decoupled ? static_cast<float>(1 - decay) : 1};
}

class AdamOp final : public CpuOp {
 public:
  explicit AdamOp(const Adam& desc) : CpuOp(desc), desc_(desc) {
    add_tensors(*this);
    set_implementation(optimiser_loop);
  }

  void execute(const Execution& execution, Addresses arguments) override {
    const AdamArrays arrays{.parameters = floats(arguments[0]),
                            .gradients = floats(arguments[1]),
                            .first_moment = floats(arguments[2]),
                            .second_moment = floats(arguments[3])};
    const AdamStep step =
        adam_step(desc_, next_step(arguments[4]), gradient_factor(desc_.clipped, arguments));
    descend_by_adam(arrays, step, static_cast<std::size_t>(desc_.count), execution.threads);
  }

 private:
  Adam desc_;
};

class SquaredNormOp final : public CpuOp {
 public:
  explicit SquaredNormOp(const SquaredNorm& desc)
      : CpuOp(desc),
        count_(static_cast<std::size_t>(desc.count)),
        blocks_((count_ + square_block - 1) / square_block) {
    add_tensors(*this);
    add_scratch(blocks_ * sizeof(double));
    set_implementation(optimiser_loop);
  }

  void execute(const Execution& execution, Addresses arguments) override {
    auto* sums = reinterpret_cast<double*>(execution.scratch);
    sum_squares(sums, floats(arguments[0]), count_, execution.threads);
    double total = 0;
    for (std::size_t i = 0; i < blocks_; ++i) total += sums[i];
    *floats(arguments[1]) = static_cast<float>(total);
  }

 private:
  std::size_t count_;
  std::size_t blocks_;
};

class ClipFactorOp final : public CpuOp {
 public:
  explicit ClipFactorOp(const ClipFactor& desc) : CpuOp(desc), desc_(desc) {
    add_tensors(*this);
    set_implementation(optimiser_loop);
  }

  void execute(const Execution& /*execution*/, Addresses arguments) override {
    const float* squares = floats(arguments[0]);
    double total = 0;
    for (int i = 0; i < desc_.parts; ++i) total += double{squares[i]};
    const double factor = double{desc_.max_norm} / (std::sqrt(total) + 1e-6);
    *floats(arguments[1]) = static_cast<float>(std::min(factor, 1.0));  // a NaN stays a NaN
  }

 private:
  ClipFactor desc_;
};

}  // namespace

Planned plan(const Sgd& desc) { return std::make_unique<SgdOp>(desc); }

Planned plan(const Adam& desc) { return std::make_unique<AdamOp>(desc); }

Planned plan(const SquaredNorm& desc) { return std::make_unique<SquaredNormOp>(desc); }

Planned plan(const ClipFactor& desc) { return std::make_unique<ClipFactorOp>(desc); }

}  // namespace parbench::cpu
