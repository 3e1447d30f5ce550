// Naive loops of activation functions, layer normalisation, dropout and scaling.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/random.h"
#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

double distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// The argument of the tanh in the approximation of GELU, and its derivative.
double inner(double x) { return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3)); }
double slope_of_inner(double x) {
  return std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
}

double activated(const ActivationForward& desc, double x) {
  switch (desc.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::gelu:
      return x * distribution(x);
    case ActivationKind::gelu_tanh:
      return x / 2 * (1 + std::tanh(inner(x)));
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::clip:
      return std::clamp(x, double{desc.low}, double{desc.high});
  }
  return NAN;
}

/// `known`: x for those whose backward pass reads it, else f(x).
double derivative(const ActivationBackward& desc, double known) {
  switch (desc.kind) {
    case ActivationKind::relu:
      return known > 0 ? 1 : 0;
    case ActivationKind::gelu:
      return distribution(known) + known * density(known);
    case ActivationKind::gelu_tanh: {
      const double value = std::tanh(inner(known));
      return (1 + value) / 2 + known / 2 * (1 - value * value) * slope_of_inner(known);
    }
    case ActivationKind::sigmoid:
      return known * (1 - known);
    case ActivationKind::tanh:
      return 1 - known * known;
    case ActivationKind::clip:
      return known > double{desc.low} && known < double{desc.high} ? 1 : 0;
  }
  return NAN;
}

}  // namespace

Tensors compute(const ActivationForward& desc, const Tensors& inputs) {
  Values result = in(inputs, "source");
  for (double& value : result) value = activated(desc, value);
  return {{"destination", result}};
}

Tensors compute(const ActivationBackward& desc, const Tensors& inputs) {
  const Values& known = in(inputs, backward_reads_source(desc.kind) ? "source" : "destination");
  Values result = in(inputs, "diff_destination");
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= derivative(desc, known[i]);
  return {{"diff_source", result}};
}

Tensors compute(const LayerNormForward& desc, const Tensors& inputs) {
  const Values& source = in(inputs, "source");
  const std::size_t columns = size(desc.shape.back());
  const auto count = static_cast<double>(columns);
  const std::size_t rows = source.size() / columns;
  Values mean(rows, 0.0);
  Values variance(rows, 0.0);
  Values destination(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) mean[i / columns] += source[i] / count;
  for (std::size_t i = 0; i < source.size(); ++i) {
    variance[i / columns] += std::pow(source[i] - mean[i / columns], 2) / count;
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double deviation = std::sqrt(variance[i / columns] + double{desc.epsilon});
    const double normalised = (source[i] - mean[i / columns]) / deviation;
    destination[i] =
        in(inputs, "scale")[i % columns] * normalised + in(inputs, "shift")[i % columns];
  }
  return {{"destination", destination}, {"mean", mean}, {"variance", variance}};
}

Tensors compute(const LayerNormBackward& desc, const Tensors& inputs) {
  const Values& gradient = in(inputs, "diff_destination");
  Values inverse = in(inputs, "variance");
  for (double& value : inverse) value = 1 / std::sqrt(value + double{desc.epsilon});
  const std::size_t columns = size(desc.shape.back());
  const auto count = static_cast<double>(columns);
  Values normalised(gradient.size());
  Values sum(inverse.size(), 0.0);
  Values product(inverse.size(), 0.0);
  Values diff_scale = start(inputs, "diff_scale", columns, desc.accumulate);
  Values diff_shift = start(inputs, "diff_shift", columns, desc.accumulate);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const std::size_t row = i / columns;
    const std::size_t column = i % columns;
    normalised[i] = (in(inputs, "source")[i] - in(inputs, "mean")[row]) * inverse[row];
    diff_scale[column] += gradient[i] * normalised[i];
    diff_shift[column] += gradient[i];
    sum[row] += gradient[i] * in(inputs, "scale")[column];
    product[row] += gradient[i] * in(inputs, "scale")[column] * normalised[i];
  }
  Values diff_source(gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const std::size_t row = i / columns;
    const double scaled = gradient[i] * in(inputs, "scale")[i % columns];
    diff_source[i] = inverse[row] * (scaled - (sum[row] + normalised[i] * product[row]) / count);
  }
  return {{"diff_source", diff_source}, {"diff_scale", diff_scale}, {"diff_shift", diff_shift}};
}

Tensors compute(const Dropout& desc, const Tensors& inputs) {
  Values result = in(inputs, "source");
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::uint64_t index = static_cast<std::uint64_t>(desc.first) + i;
    const RandomWords words = random_words({desc.seed, desc.subsequence}, index / 4);
    const Values uniform{static_cast<double>(words.x >> 8U), static_cast<double>(words.y >> 8U),
                         static_cast<double>(words.z >> 8U), static_cast<double>(words.w >> 8U)};
    const bool kept = uniform[index % 4] * 0x1p-24 >= double{desc.probability};
    result[i] = kept ? result[i] / (1 - double{desc.probability}) : 0;
  }
  return {{"destination", result}};
}

Tensors compute(const Scale& desc, const Tensors& inputs) {
  Values result = in(inputs, "source");
  for (double& value : result) value = double{desc.factor} * value + double{desc.addend};
  return {{"destination", result}};
}

}  // namespace parbench::test
