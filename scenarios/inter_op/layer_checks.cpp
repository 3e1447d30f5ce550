// Spot checks by kind of layer.
#include "scenarios/inter_op/layer_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "scenarios/framework/spot_check.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"

namespace parbench {
namespace {

constexpr int checked_positions = 40;

/// What a layer read and wrote for one sample, canonical.
struct LayerSample {
  std::vector<float> source;
  std::vector<float> weights;
  std::vector<float> bias;
  std::vector<float> result;
};

std::optional<std::string> wrong_convolution(const ConvolutionShape& shape,
                                             const LayerSample& sample, NumberFormat format) {
  ConvolutionProbe probe;
  probe.shape = shape;
  probe.source = sample.source;
  probe.weights = sample.weights;
  probe.bias = sample.bias;
  probe.result = sample.result;
  return spot_check(probe, format, checked_positions);
}

/// `result` has a row of outputs for each row of `inputs` in `source`.
std::optional<std::string> wrong_linear(std::int64_t inputs, const LayerSample& sample,
                                        NumberFormat format) {
  const std::int64_t outputs = static_cast<std::int64_t>(sample.weights.size()) / inputs;
  const std::int64_t rows = static_cast<std::int64_t>(sample.source.size()) / inputs;
  for (const Shape& position : spot_positions({rows, outputs}, checked_positions)) {
    const auto row = static_cast<std::size_t>(position[0] * inputs);
    const auto column = static_cast<std::size_t>(position[1] * inputs);
    Expected want;
    if (!sample.bias.empty()) want.add(sample.bias[static_cast<std::size_t>(position[1])], 1.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs); ++i) {
      want.add(sample.source[row + i], sample.weights[column + i]);
    }
    const float got = sample.result[static_cast<std::size_t>(position[0] * outputs + position[1])];
    if (agrees(got, want, format)) continue;
    return fmt::format("row {}, output {}: {} instead of {}", position[0], position[1], got,
                       want.value);
  }
  return std::nullopt;
}

class LayerChecker {
 public:
  LayerChecker(CaseData& data, const StageRange& whole, const NetworkForward& forward)
      : data_(data), whole_(whole), forward_(forward) {}

  /// What is wrong with the network's output or the first wrong layer, or nothing.
  [[nodiscard]] std::optional<std::string> operator()() const {
    for (const float value : data_.read(forward_.output(whole_.last))) {
      if (!std::isfinite(value)) return fmt::format("the output has a value of {}", value);
    }
    for (int layer = 0; layer <= whole_.last; ++layer) {
      for (const std::int64_t sample : std::set<std::int64_t>{0, whole_.batch - 1}) {
        if (const auto wrong = check(layer, sample)) {
          return fmt::format("layer {}, sample {}: {}", whole_.network->layer(layer).name, sample,
                             *wrong);
        }
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::vector<float> values_of(int layer, std::string_view role) const {
    const ParameterPart& part = forward_.parameter_part(layer, role);
    const std::vector<float> all = data_.read(part.tensor);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(part.first);
    return {first, first + static_cast<std::ptrdiff_t>(part.count)};
  }

  [[nodiscard]] LayerSample sample_of(int layer, std::int64_t index, bool bias) const {
    return {.source = data_.read_slab(forward_.source(layer), index),
            .weights = values_of(layer, "weights"),
            .bias = bias ? values_of(layer, "bias") : std::vector<float>(),
            .result = data_.read_slab(forward_.output(layer), index)};
  }

  [[nodiscard]] std::optional<std::string> check(int index, std::int64_t sample) const {
    const Layer& layer = whole_.network->layer(index);
    const NumberFormat format{whole_.dtype, whole_.math};
    if (const auto* convolution = as<Convolution>(layer)) {
      const Shape source = whole_.work_of(index, whole_.batch).inputs.front();
      if (convolution->options().groups != 1) return std::nullopt;
      return wrong_convolution(convolution->shape(source),
                               sample_of(index, sample, convolution->options().bias), format);
    }
    if (const auto* linear = as<Linear>(layer)) {
      const std::int64_t inputs = whole_.network->input_of(layer).back();
      return wrong_linear(inputs, sample_of(index, sample, linear->has_bias()), format);
    }
    return std::nullopt;
  }

  CaseData& data_;
  const StageRange& whole_;
  const NetworkForward& forward_;
};

}  // namespace

void add_layer_checks(CaseParts& parts, const StageRange& whole, const NetworkForward& forward) {
  parts.checks.push_back(
      {"finite output, and sampled values of convolutions and linear layers computed naively",
       LayerChecker(parts.data, whole, forward)});
}

}  // namespace parbench
