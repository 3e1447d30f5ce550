// Updates of optimisers and gradient clipping, in loops of this project.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/optimisers/optimiser_loops.h"

namespace parbench::cpu {
namespace {

// Returns the factor of clipped gradients, which is the last argument; 1 without clipping.
float gradient_factor(bool clipped, Addresses arguments) {
  return clipped ? *floats(arguments.back()) : 1.0F;
}

std::uint64_t next_step(std::byte* counter) {
  std::uint64_t steps = 0;
  std::memcpy(&steps, counter, sizeof steps);
  ++steps;
  std::memcpy(counter, &steps, sizeof steps);
  return steps;
}

AdamUpdate adam_update(const Adam& desc, std::uint64_t number, float factor) {
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

}  // namespace

Planned plan(const Sgd& desc) {
  const auto count = static_cast<std::size_t>(desc.count);
  return loop_op(desc, [desc, count](const Execution& execution, Addresses at) {
    const float factor = gradient_factor(desc.clipped, at);
    float* parameters = floats(at[0]);
    const float* gradients = floats(at[1]);
    if (desc.momentum > 0) {
      const MomentumUpdate update{desc.learning_rate, desc.momentum, factor};
      descend_with_momentum(parameters, gradients, floats(at[2]), update, count, execution.threads);
    } else {
      descend(parameters, gradients, desc.learning_rate * factor, count, execution.threads);
    }
  });
}

Planned plan(const Adam& desc) {
  return loop_op(desc, [desc](const Execution& execution, Addresses at) {
    const AdamArrays arrays{.parameters = floats(at[0]),
                            .gradients = floats(at[1]),
                            .first_moment = floats(at[2]),
                            .second_moment = floats(at[3])};
    const AdamUpdate update =
        adam_update(desc, next_step(at[4]), gradient_factor(desc.clipped, at));
    descend_by_adam(arrays, update, static_cast<std::size_t>(desc.count), execution.threads);
  });
}

Planned plan(const SquaredNorm& desc) {
  const auto count = static_cast<std::size_t>(desc.count);
  const std::size_t blocks = (count + square_block - 1) / square_block;
  const LoopNeeds needs{.scratch_bytes = blocks * sizeof(double)};
  return loop_op(desc, needs, [count, blocks](const Execution& execution, Addresses at) {
    auto* sums = reinterpret_cast<double*>(execution.scratch);
    sum_squares(sums, floats(at[0]), count, execution.threads);
    *floats(at[1]) = static_cast<float>(std::accumulate(sums, sums + blocks, 0.0));
  });
}

Planned plan(const ClipFactor& desc) {
  return loop_op(desc, [desc](const Execution& /*execution*/, Addresses at) {
    const float* squares = floats(at[0]);
    const double total = std::accumulate(squares, squares + desc.parts, 0.0);
    const double factor = double{desc.max_norm} / (std::sqrt(total) + 1e-6);
    *floats(at[1]) = static_cast<float>(std::min(factor, 1.0));  // a NaN stays a NaN
  });
}

}  // namespace parbench::cpu
