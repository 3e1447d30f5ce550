// Spot checks of products, and naive loops for all other layers.
#include "scenarios/inference/layer_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/checks/spot_check.h"
#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/naive/layers.h"

namespace parbench {
namespace {

constexpr int checked_positions = 40;
constexpr std::int64_t max_normalised = 1 << 24;  // maximum number of values in a batch norm
constexpr double max_naive_flops = 1e9;           // FLOP limit per recomputation, about a second

/// Input, parameters and output of a layer for one sample, in the canonical layout.
struct LayerSample {
  std::vector<float> source;
  std::vector<float> weights;
  std::vector<float> bias;
  std::vector<float> result;
};

std::optional<std::string> wrong_convolution(const ConvolutionShape& shape, bool relu,
                                             const LayerSample& sample, NumberFormat format) {
  ConvolutionProbe probe;
  probe.shape = shape;
  probe.relu = relu;
  probe.source = sample.source;
  probe.weights = sample.weights;
  probe.bias = sample.bias;
  probe.result = sample.result;
  return spot_check(probe, format, checked_positions);
}

/// Checks sampled outputs. `result` has a row of outputs for each row of `inputs` values in
/// `source`.
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

naive::Values wide(const std::vector<float>& values) { return {values.begin(), values.end()}; }

double root_mean_square(const naive::Values& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// Returns a message about the first wrong value; nothing if there is none. `slack`: allowed error
/// in addition to the format's tolerance.
std::optional<std::string> first_difference(const std::vector<float>& got,
                                            const naive::Values& want, NumberFormat format,
                                            double slack = 0) {
  const Tolerance tolerance = tolerance_of(format);
  const double scale = root_mean_square(want);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double allowed = tolerance.allowed(want[i], scale) + slack;
    if (std::abs(got[i] - want[i]) <= allowed) continue;  // false for NaN
    return fmt::format("value {}: {} instead of {}", i, got[i], want[i]);
  }
  return std::nullopt;
}

/// Returns the values of one channel in all samples. `image`: shape of a sample.
template <class Element>
std::vector<Element> channel_of(const std::vector<Element>& images, std::int64_t channel,
                                const Shape& image) {
  const std::int64_t pixels = image[1] * image[2];
  const auto samples = static_cast<std::int64_t>(images.size()) / (image[0] * pixels);
  std::vector<Element> values;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const auto first = images.begin() + (sample * image[0] + channel) * pixels;
    values.insert(values.end(), first, first + pixels);
  }
  return values;
}

/// Returns the ratio of mean square to variance plus `epsilon`: the factor by which a normalisation
/// amplifies an error of the mean.
double conditioning(const naive::Values& values, double epsilon) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  return squares / count / (variance + epsilon);
}

class LayerChecker {
 public:
  LayerChecker(CaseData& data, const StageRange& whole, PassOfLayer pass_of)
      : data_(data),
        whole_(whole),
        pass_of_(std::move(pass_of)),
        specs_(whole.network->parameters()) {}

  /// Returns an error message for the network's output or the first wrong layer, or nothing.
  [[nodiscard]] std::optional<std::string> operator()() const {
    for (const float value : data_.read(output(whole_.last))) {
      if (!std::isfinite(value)) return fmt::format("the output has a value of {}", value);
    }
    for (int layer = 0; layer <= whole_.last; ++layer) {
      if (const auto wrong = check(layer)) {
        return fmt::format("layer {}, {}", whole_.network->layer(layer).name, *wrong);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] NumberFormat format() const { return {whole_.dtype, whole_.math}; }

  [[nodiscard]] Tensor output(int layer) const { return pass_of_(layer).tensor(layer); }
  [[nodiscard]] Tensor source(int layer, std::size_t which) const {
    return pass_of_(layer).source(layer, which);
  }

  [[nodiscard]] std::vector<float> values_of(int layer, std::string_view role) const {
    const ParameterPart& part = pass_of_(layer).parameter_part(layer, role);
    const std::vector<float> all = data_.read(part.tensor);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(part.first);
    return {first, first + static_cast<std::ptrdiff_t>(part.count)};
  }

  [[nodiscard]] naive::Values parameter(int layer, std::string_view suffix) const {
    const int owner = whole_.network->owner_of(layer);
    for (const ParameterSpec& spec : specs_) {
      if (spec.layer == owner && spec.name.ends_with(suffix)) {
        return wide(values_of(layer, spec.role));
      }
    }
    throw std::logic_error(
        fmt::format("{} has no parameter {}", whole_.network->layer(layer).name, suffix));
  }

  [[nodiscard]] LayerSample sample_of(int layer, std::int64_t index, bool bias) const {
    return {.source = data_.read_slab(source(layer, 0), index),
            .weights = values_of(layer, "weights"),
            .bias = bias ? values_of(layer, "bias") : std::vector<float>(),
            .result = data_.read_slab(output(layer), index)};
  }

  [[nodiscard]] std::optional<std::string> check(int index) const {
    const Layer& layer = whole_.network->layer(index);
    if (as<BatchNorm>(layer) != nullptr) return check_normalisation(index);
    const auto* composition = as<Composition>(layer);
    if (composition != nullptr && composition->mixes_samples()) return check_all(index);
    std::set<std::int64_t> samples{0};
    // Which elements a dropout sets to 0 depends on the position in the whole batch, so only the
    // first sample can be computed alone.
    if (as<RandomDropout>(layer) == nullptr) samples.insert(whole_.batch - 1);
    for (const std::int64_t sample : samples) {
      const auto wrong =
          is_product(layer) ? check_product(index, sample) : check_sample(index, sample);
      if (wrong) return fmt::format("sample {}: {}", sample, *wrong);
    }
    return std::nullopt;
  }

  [[nodiscard]] static bool is_product(const Layer& layer) {
    const auto* convolution = as<Convolution>(layer);
    return as<Linear>(layer) != nullptr ||
           (convolution != nullptr && convolution->options().groups == 1);
  }

  [[nodiscard]] std::optional<std::string> check_product(int index, std::int64_t sample) const {
    const Layer& layer = whole_.network->layer(index);
    if (const auto* linear = as<Linear>(layer)) {
      const std::int64_t inputs = whole_.network->input_of(layer).back();
      return wrong_linear(inputs, sample_of(index, sample, linear->has_bias()), format());
    }
    const auto* convolution = as<Convolution>(layer);
    const Shape source = whole_.work_of(index, whole_.batch).inputs.front();
    return wrong_convolution(convolution->shape(source), convolution->options().relu,
                             sample_of(index, sample, convolution->options().bias), format());
  }

  /// Checks all values of all samples, unless that takes more than `max_naive_flops`.
  [[nodiscard]] std::optional<std::string> check_all(int index) const {
    const Layer& layer = whole_.network->layer(index);
    if (pass_of_(index).flops(index) > max_naive_flops) return std::nullopt;
    std::vector<naive::Values> inputs;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
      inputs.push_back(wide(data_.read(source(index, which))));
    }
    const naive::Values want = naive::output_of(
        layer, whole_.network->input_of(layer),
        [&](std::size_t which) -> const naive::Values& { return inputs.at(which); },
        [&](const char* suffix) { return parameter(index, suffix); }, whole_.batch);
    return first_difference(data_.read(output(index)), want, format());
  }

  /// Checks all values of a sample, unless that takes more than `max_naive_flops`.
  [[nodiscard]] std::optional<std::string> check_sample(int index, std::int64_t sample) const {
    if (pass_of_(index).flops(index) > max_naive_flops * static_cast<double>(whole_.batch)) {
      return std::nullopt;
    }
    const Layer& layer = whole_.network->layer(index);
    std::vector<naive::Values> inputs;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
      inputs.push_back(wide(data_.read_slab(source(index, which), sample)));
    }
    const naive::Values want = naive::output_of(
        layer, whole_.network->input_of(layer),
        [&](std::size_t which) -> const naive::Values& { return inputs.at(which); },
        [&](const char* suffix) { return parameter(index, suffix); }, 1);
    return first_difference(data_.read_slab(output(index), sample), want, format());
  }

  /// Checks the first and the last channel, in the first and the last sample, unless there are more
  /// than `max_normalised` values. A channel is normalised over all samples.
  [[nodiscard]] std::optional<std::string> check_normalisation(int index) const {
    constexpr double rounding = 1e-6;  // relative error of a mean in f32
    const Layer& layer = whole_.network->layer(index);
    if (element_count(layer.output) * whole_.batch > max_normalised) return std::nullopt;
    std::vector<float> ends = data_.read_slab(output(index), 0);
    const std::vector<float> last = data_.read_slab(output(index), whole_.batch - 1);
    ends.insert(ends.end(), last.begin(), last.end());
    std::vector<std::vector<float>> inputs;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
      inputs.push_back(data_.read(source(index, which)));
    }
    for (const std::int64_t channel : std::set<std::int64_t>{0, layer.output[0] - 1}) {
      Layer one = layer;
      one.output[0] = 1;
      std::vector<naive::Values> sources;
      for (const std::vector<float>& images : inputs) {
        sources.push_back(wide(channel_of(images, channel, layer.output)));
      }
      const auto value_of = [&](const char* suffix) {
        return naive::Values{parameter(index, suffix).at(static_cast<std::size_t>(channel))};
      };
      naive::Values want = naive::output_of(
          one, one.output,
          [&](std::size_t which) -> const naive::Values& { return sources.at(which); }, value_of,
          whole_.batch);
      const auto pixels = static_cast<std::ptrdiff_t>(element_count(one.output));
      if (whole_.batch > 2) want.erase(want.begin() + pixels, want.end() - pixels);
      if (whole_.batch == 1) want.insert(want.end(), want.begin(), want.begin() + pixels);
      const double slack = rounding * std::abs(value_of(".weight").front()) *
                           conditioning(sources.front(), double{as<BatchNorm>(layer)->epsilon()});
      if (auto wrong =
              first_difference(channel_of(ends, channel, layer.output), want, format(), slack)) {
        return fmt::format("channel {}: {}", channel, *wrong);
      }
    }
    return std::nullopt;
  }

  CaseData& data_;
  const StageRange& whole_;
  PassOfLayer pass_of_;
  std::vector<ParameterSpec> specs_;
};

}  // namespace

void add_layer_checks(CaseParts& parts, const StageRange& whole, const PassOfLayer& pass_of) {
  parts.checks.push_back(
      {"every layer from its inputs: sampled values of convolutions and linear layers, all values "
       "of other layers in two samples or channels, computed naively",
       LayerChecker(parts.data, whole, pass_of)});
}

}  // namespace parbench
