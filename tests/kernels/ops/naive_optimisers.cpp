// Naive loops of optimisers and gradient clipping.
#include <algorithm>
#include <cmath>

#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

Values gradients_of(bool clipped, const Tensors& inputs) {
  Values gradients = in(inputs, "gradients");
  if (!clipped) return gradients;
  for (double& gradient : gradients) gradient *= in(inputs, "factor")[0];
  return gradients;
}

}  // namespace

Tensors compute(const Sgd& desc, const Tensors& inputs) {
  Values parameters = in(inputs, "parameters");
  Values direction = gradients_of(desc.clipped, inputs);
  if (desc.momentum > 0) {
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] += double{desc.momentum} * in(inputs, "velocity")[i];
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] -= double{desc.learning_rate} * direction[i];
  }
  if (desc.momentum > 0) return {{"parameters", parameters}, {"velocity", direction}};
  return {{"parameters", parameters}};
}

Tensors compute(const Adam& desc, const Tensors& inputs) {
  const double rate = double{desc.learning_rate};
  const double decay = double{desc.weight_decay};
  const double first_bias = 1 - std::pow(double{desc.beta1}, steps_before + 1);
  const double second_bias = 1 - std::pow(double{desc.beta2}, steps_before + 1);
  Values parameters = in(inputs, "parameters");
  Values gradients = gradients_of(desc.clipped, inputs);
  Values first = in(inputs, "first_moment");
  Values second = in(inputs, "second_moment");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (desc.decoupled) {
      parameters[i] *= 1 - rate * decay;
    } else {
      gradients[i] += decay * parameters[i];
    }
    first[i] = double{desc.beta1} * first[i] + (1 - double{desc.beta1}) * gradients[i];
    second[i] =
        double{desc.beta2} * second[i] + (1 - double{desc.beta2}) * std::pow(gradients[i], 2);
    parameters[i] -= rate * (first[i] / first_bias) /
                     (std::sqrt(second[i] / second_bias) + double{desc.epsilon});
  }
  return {{"parameters", parameters}, {"first_moment", first}, {"second_moment", second}};
}

Tensors compute(const SquaredNorm& /*desc*/, const Tensors& inputs) {
  double sum = 0;
  for (const double value : in(inputs, "source")) sum += value * value;
  return {{"sum", {sum}}};
}

Tensors compute(const ClipFactor& desc, const Tensors& inputs) {
  double sum = 0;
  for (const double square : in(inputs, "squared_norms")) sum += square;
  return {{"factor", {std::min(1.0, double{desc.max_norm} / (std::sqrt(sum) + 1e-6))}}};
}

}  // namespace parbench::test
