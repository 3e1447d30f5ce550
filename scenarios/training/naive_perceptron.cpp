// Linear layers and ReLUs by definition, forward and backward.
#include "scenarios/training/naive_perceptron.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/base/bfloat16.h"
#include "scenarios/models/layers/activation.h"
#include "scenarios/models/layers/linear.h"

namespace parbench {
namespace {

using Values = std::vector<double>;

double rounded(double value, DType dtype) {
  if (dtype == DType::f32) return value;
  return from_bf16(to_bf16(static_cast<float>(value)));
}

/// A linear layer for one batch: {samples, in} to {samples, out}, weights {out, in}.
struct LinearLoops {
  std::size_t samples = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  Values weights;
  Values bias;
  DType dtype = DType::f32;

  [[nodiscard]] Values forward(const Values& source) const {
    Values result(samples * out);
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t o = 0; o < out; ++o) {
        double sum = bias[o];
        for (std::size_t i = 0; i < in; ++i) sum += source[n * in + i] * weights[o * in + i];
        result[n * out + o] = rounded(sum, dtype);
      }
    }
    return result;
  }

  [[nodiscard]] Values source_gradient(const Values& gradient) const {
    Values result(samples * in);
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t i = 0; i < in; ++i) {
        double sum = 0;
        for (std::size_t o = 0; o < out; ++o) sum += gradient[n * out + o] * weights[o * in + i];
        result[n * in + i] = rounded(sum, dtype);
      }
    }
    return result;
  }

  [[nodiscard]] Values weight_gradient(const Values& source, const Values& gradient) const {
    Values result(out * in);
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t o = 0; o < out; ++o) {
        for (std::size_t i = 0; i < in; ++i) {
          result[o * in + i] += gradient[n * out + o] * source[n * in + i];
        }
      }
    }
    return result;
  }

  [[nodiscard]] Values bias_gradient(const Values& gradient) const {
    Values result(out);
    for (std::size_t i = 0; i < gradient.size(); ++i) result[i % out] += gradient[i];
    return result;
  }
};

bool is_relu(const Layer& layer) {
  const auto* activation = as<Activation>(layer);
  return activation != nullptr && activation->kind() == ActivationKind::relu;
}

LinearLoops loops_of(const Network& network, const Layer& layer, const NamedValues& parameters,
                     std::int64_t samples, DType dtype) {
  LinearLoops linear{.samples = static_cast<std::size_t>(samples),
                     .in = static_cast<std::size_t>(network.input_of(layer).front()),
                     .out = static_cast<std::size_t>(layer.output.front()),
                     .weights = parameters.at(layer.name + ".weight"),
                     .bias = parameters.at(layer.name + ".bias"),
                     .dtype = dtype};
  for (double& weight : linear.weights) weight = rounded(weight, dtype);
  return linear;
}

}  // namespace

bool is_perceptron(const Network& network) {
  if (network.loss != Loss::mean_squared_error || network.input.size() != 1) return false;
  for (int index = 0; index < static_cast<int>(network.layers.size()); ++index) {
    const Layer& layer = network.layers[static_cast<std::size_t>(index)];
    const Linear* linear = as<Linear>(layer);
    const bool known = linear != nullptr ? linear->has_bias() : is_relu(layer);
    if (!known || layer.inputs.front() != index - 1) return false;
  }
  return true;
}

NaiveStep naive_step(const Network& network, const NamedValues& parameters, const Values& images,
                     const Values& target, std::int64_t samples, DType dtype) {
  if (!is_perceptron(network)) throw std::invalid_argument(network.name + " is not a perceptron");
  const auto linear = [&](const Layer& layer) {
    return loops_of(network, layer, parameters, samples, dtype);
  };
  std::vector<Values> values = {images};  // values[i] is what layer i reads
  for (const Layer& layer : network.layers) {
    Values next = values.back();
    if (as<Linear>(layer) != nullptr) {
      next = linear(layer).forward(values.back());
    } else {
      for (double& value : next) value = std::max(value, 0.0);
    }
    values.push_back(std::move(next));
  }

  NaiveStep step;
  const auto count = static_cast<double>(target.size());
  Values gradient(target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double delta = values.back()[i] - target[i];
    step.loss += delta * delta / count;
    gradient[i] = rounded(2 * delta / count, dtype);
  }
  for (std::size_t i = network.layers.size(); i-- > 0;) {
    const Layer& layer = network.layers[i];
    if (as<Linear>(layer) != nullptr) {
      const LinearLoops operation = linear(layer);
      step.gradients[layer.name + ".weight"] = operation.weight_gradient(values[i], gradient);
      step.gradients[layer.name + ".bias"] = operation.bias_gradient(gradient);
      gradient = operation.source_gradient(gradient);
    } else {
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        if (values[i][k] <= 0) gradient[k] = 0;
      }
    }
  }
  return step;
}

}  // namespace parbench
