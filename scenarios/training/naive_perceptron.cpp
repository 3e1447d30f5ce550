// Linear layers and ReLUs by definition, forward and backward.
#include "scenarios/training/naive_perceptron.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/base/bfloat16.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"

namespace parbench {
namespace {

using Values = std::vector<double>;

double rounded(double value, DType dtype) {
  if (dtype == DType::f32) return value;
  return from_bf16(to_bf16(static_cast<float>(value)));
}

/// A linear layer for one batch: source {samples, in}, result {samples, out}, weights {out, in}.
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

/// Returns the values of the samples in `chosen`.
Values rows(const Values& values, const std::vector<std::size_t>& chosen, std::size_t samples) {
  const std::size_t size = values.size() / samples;
  Values found;
  found.reserve(chosen.size() * size);
  for (const std::size_t sample : chosen) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(sample * size);
    found.insert(found.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return found;
}

LinearLoops loops_of(const Network& network, const Layer& layer, const NamedValues& parameters,
                     std::size_t samples, DType dtype) {
  LinearLoops linear{.samples = samples,
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

NaivePerceptron::NaivePerceptron(const Network& network, const NamedValues& parameters,
                                 const Batch& batch, DType dtype)
    : network_(network),
      parameters_(parameters),
      samples_(static_cast<std::size_t>(batch.samples)),
      dtype_(dtype),
      values_{batch.images} {
  if (!is_perceptron(network)) throw std::invalid_argument(network.name + " is not a perceptron");
  for (const Layer& layer : network.layers) {
    Values next = values_.back();
    if (as<Linear>(layer) != nullptr) {
      next = loops_of(network, layer, parameters, samples_, dtype).forward(values_.back());
    } else {
      for (double& value : next) value = std::max(value, 0.0);
    }
    values_.push_back(std::move(next));
  }
  for (std::size_t i = 0; i < batch.target.size(); ++i) {
    errors_.push_back(values_.back()[i] - batch.target[i]);
  }
}

double NaivePerceptron::loss() const {
  double sum = 0;
  for (const double error : errors_) sum += error * error;
  return sum / static_cast<double>(errors_.size());
}

NamedValues NaivePerceptron::gradients() const {
  std::vector<std::size_t> all(samples_);
  std::iota(all.begin(), all.end(), 0);
  return backward(all, limits(0));
}

NamedValues NaivePerceptron::switched_gradients(NamedValues from, double closeness) const {
  const Values near_zero = limits(closeness);
  const std::vector<std::size_t> samples = samples_near_zero(near_zero);
  const NamedValues before = backward(samples, limits(0));
  for (auto& [name, after] : backward(samples, near_zero)) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      from.at(name)[i] += after[i] - before.at(name)[i];
    }
  }
  return from;
}

/// Returns, by layer, the magnitude up to which `switched_gradients` treats an input as if it had
/// the opposite sign; negative for layers other than ReLUs and, if `closeness` is 0, for all
/// layers.
NaivePerceptron::Values NaivePerceptron::limits(double closeness) const {
  Values limits(network_.layers.size(), -1.0);
  if (closeness == 0) return limits;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Values& inputs = values_[i];
    const double squares = std::inner_product(inputs.begin(), inputs.end(), inputs.begin(), 0.0);
    if (!is_relu(network_.layers[i])) continue;
    limits[i] = closeness * std::sqrt(squares / static_cast<double>(inputs.size()));
  }
  return limits;
}

std::vector<std::size_t> NaivePerceptron::samples_near_zero(const Values& limits) const {
  std::vector<std::size_t> found;
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    const auto has_one = [&](std::size_t layer) {
      const Values inputs = rows(values_[layer], {sample}, samples_);
      return std::ranges::any_of(inputs,
                                 [&](double value) { return std::abs(value) <= limits[layer]; });
    };
    std::size_t layer = 0;
    while (layer < limits.size() && !has_one(layer)) ++layer;
    if (layer < limits.size()) found.push_back(sample);
  }
  return found;
}

NamedValues NaivePerceptron::backward(const std::vector<std::size_t>& samples,
                                      const Values& limits) const {
  NamedValues gradients;
  Values gradient = rows(errors_, samples, samples_);
  for (double& value : gradient) {
    value = rounded(2 * value / static_cast<double>(errors_.size()), dtype_);
  }
  for (std::size_t i = network_.layers.size(); i-- > 0;) {
    const Layer& layer = network_.layers[i];
    const Values inputs = rows(values_[i], samples, samples_);
    if (as<Linear>(layer) != nullptr) {
      const LinearLoops operation = loops_of(network_, layer, parameters_, samples.size(), dtype_);
      gradients[layer.name + ".weight"] = operation.weight_gradient(inputs, gradient);
      gradients[layer.name + ".bias"] = operation.bias_gradient(gradient);
      if (i > 0) gradient = operation.source_gradient(gradient);
    } else {
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const bool passes = (inputs[k] > 0) != (std::abs(inputs[k]) <= limits[i]);
        if (!passes) gradient[k] = 0;
      }
    }
  }
  return gradients;
}

}  // namespace parbench
