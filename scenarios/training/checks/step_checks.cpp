// Recomputes losses and gradients by definition, and compares both ends of boundaries.
#include "scenarios/training/checks/step_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "scenarios/framework/checks/spot_check.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/naive_perceptron.h"
#include "scenarios/training/network_facts.h"

namespace parbench {
namespace {

// maximum number of multiplications of a naive forward pass (about a tenth of a second)
constexpr double max_naive = 1e8;
// number of checked positions in the gradient of the last layer's weights, in addition to the
// corners
constexpr int gradient_positions = 24;

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// --- the last layer and the loss ---

/// Tensors of the whole batch at the end of the network, in canonical order.
struct End {
  std::vector<float> source;  // input of the last layer
  std::vector<float> prediction;
  std::vector<float> target;
};

End read_end(CaseData& data, const Stage& last, int micro_batches) {
  End end{.source = {}, .prediction = {}, .target = data.read(last.target())};
  const auto append = [&](std::vector<float>& to, const Tensor& tensor) {
    const std::vector<float> values = data.read(tensor);
    to.insert(to.end(), values.begin(), values.end());
  };
  for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    append(end.source, last.last_source(micro_batch));
    append(end.prediction, last.prediction(micro_batch));
  }
  return end;
}

/// Loss by definition, and its derivative with respect to each element of the prediction.
struct NaiveLoss {
  Expected value;
  std::vector<double> gradient;
};

NaiveLoss mean_squared_error(const End& end) {
  NaiveLoss loss{.value = {}, .gradient = std::vector<double>(end.target.size())};
  const double share = 1.0 / static_cast<double>(end.target.size());
  for (std::size_t i = 0; i < end.target.size(); ++i) {
    const double delta = static_cast<double>(end.prediction[i]) - end.target[i];
    loss.value.add(delta * share, delta);
    loss.gradient[i] = 2 * share * delta;
  }
  return loss;
}

/// Returns the mean cross-entropy of the targets that are not negative, and its gradient. The
/// prediction has a row of logits for each target.
NaiveLoss cross_entropy(const End& end) {
  NaiveLoss loss{.value = {}, .gradient = std::vector<double>(end.prediction.size())};
  const std::size_t classes = end.prediction.size() / end.target.size();
  const auto counted = std::ranges::count_if(end.target, [](float target) { return target >= 0; });
  const double share = 1.0 / static_cast<double>(counted);
  for (std::size_t row = 0; row < end.target.size(); ++row) {
    if (end.target[row] < 0) continue;
    const float* logits = end.prediction.data() + row * classes;
    const double max = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(logits[i] - max);
    const auto target = static_cast<std::size_t>(end.target[row]);
    loss.value.add(share, std::log(sum) + max - logits[target]);
    for (std::size_t i = 0; i < classes; ++i) {
      const double one_hot = i == target ? 1.0 : 0.0;
      loss.gradient[row * classes + i] = share * (std::exp(logits[i] - max) / sum - one_hot);
    }
  }
  return loss;
}

CheckResult check_loss(float loss, const NaiveLoss& naive) {
  if (agrees(loss, naive.value, {DType::f32})) return std::nullopt;
  return naive_difference("the loss", loss, naive.value.value);
}

bool has_product_at_end(const Network& network) {
  const auto* convolution = as<Convolution>(network.layers.back());
  return as<Linear>(network.layers.back()) != nullptr ||
         (convolution != nullptr && convolution->options().groups == 1);
}

/// Returns the last layer as one convolution of the whole batch if it is a convolution without
/// groups or a linear layer, which is a convolution of images of one pixel; otherwise nothing.
std::optional<ConvolutionShape> product_at_end(const Network& network, const End& end) {
  if (!has_product_at_end(network)) return std::nullopt;
  const Layer& last = network.layers.back();
  const Shape source = network.input_of(last);
  if (as<Linear>(last) != nullptr) {
    const auto rows = static_cast<std::int64_t>(end.source.size()) / source.back();
    return ConvolutionShape{
        .batch = rows, .in_channels = source.back(), .out_channels = last.output.back()};
  }
  const auto samples = static_cast<std::int64_t>(end.source.size()) / element_count(source);
  return as<Convolution>(last)->shape(with_samples(samples, source));
}

std::size_t element_of(const Shape& shape, const Shape& position) {
  std::int64_t element = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) element = element * shape[i] + position[i];
  return static_cast<std::size_t>(element);
}

/// Returns d loss / d weight[o][i][ky][kx] = Σ over samples, y and x of d loss /
/// d prediction[o][y][x] · the element of source[i] that is multiplied by the weight. `position`:
/// {o, i, ky, kx}.
Expected weight_gradient(const End& end, const NaiveLoss& loss, const ConvolutionShape& shape,
                         const Shape& position) {
  Expected want;
  const std::int64_t height = shape.out_height();
  const std::int64_t width = shape.out_width();
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    // indices of planes {height, width} in the prediction and in the source
    const std::int64_t output = n * shape.out_channels + position[0];
    const std::int64_t input = n * shape.in_channels + position[1];
    for (std::int64_t y = 0; y < height; ++y) {
      const std::int64_t row = y * shape.stride - shape.padding + position[2] * shape.dilation;
      if (row < 0 || row >= shape.height) continue;
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t column = x * shape.stride - shape.padding + position[3] * shape.dilation;
        if (column < 0 || column >= shape.width) continue;
        const std::int64_t source = (input * shape.height + row) * shape.width + column;
        want.add(loss.gradient[static_cast<std::size_t>((output * height + y) * width + x)],
                 end.source[static_cast<std::size_t>(source)]);
      }
    }
  }
  return want;
}

CheckResult check_weight_gradient(CaseData& data, const Stage::TrainedParameter& weights,
                                  const End& end, const NaiveLoss& loss,
                                  const ConvolutionShape& shape, NumberFormat format) {
  const std::vector<float> got = data.read(weights.gradient);
  // The gradient of the prediction is rounded to the case's type, so every term has this relative
  // error.
  const double rounding =
      1e-5 + (format.dtype == DType::bf16 ? 0x1p-8 : 0.0) + lost_in_products(format);
  // CPU kernels compute exponentials of at least e^−87 = 1.6e-38 (vector_exp).
  constexpr double underflow = 1e-30;
  for (const Shape& position : spot_positions(shape.weights(), gradient_positions)) {
    const Expected want = weight_gradient(end, loss, shape, position);
    const double value = got[element_of(shape.weights(), position)];
    const double allowed = rounding * want.magnitude + underflow;
    if (std::abs(value - want.value) <= allowed) continue;  // false for NaN
    return naive_difference(
        fmt::format("the gradient of {} at {}", weights.spec.name, to_string(position)), value,
        want.value);
  }
  return std::nullopt;
}

CheckResult check_end(CaseData& data, const Network& network, NumberFormat format,
                      const Stage& last, int micro_batches) {
  const End end = read_end(data, last, micro_batches);
  const NaiveLoss loss =
      network.loss == Loss::cross_entropy ? cross_entropy(end) : mean_squared_error(end);
  if (auto wrong = check_loss(data.read(last.loss()).front(), loss)) return wrong;
  const std::optional<ConvolutionShape> product = product_at_end(network, end);
  if (!product) return std::nullopt;
  const int layer = static_cast<int>(network.layers.size()) - 1;
  for (const Stage::TrainedParameter& parameter : last.parameters()) {
    // Skip a copy of another stage's parameter: the gradient includes the other stage's gradient.
    if (parameter.spec.layer != layer || parameter.spec.role != "weights" || parameter.is_copy) {
      continue;
    }
    if (auto wrong = check_weight_gradient(data, parameter, end, loss, *product, format)) {
      return wrong;
    }
  }
  return std::nullopt;
}

CheckResult check_finite(const std::vector<Output>& outputs) {
  const auto loss = std::ranges::find(outputs, loss_output, &Output::name);
  const float value = loss->read().front();
  if (std::isfinite(value) && value > 0) return std::nullopt;
  return fmt::format("the loss is {}", value);
}

// --- a whole perceptron ---

/// Returns the number of multiplications, and of additions of biases, in a naive forward pass.
double naive_products(const Network& network, const Tensor& images) {
  double weights = 0;
  for (const ParameterSpec& spec : network.parameters()) {
    weights += static_cast<double>(element_count(spec.shape));
  }
  return weights * static_cast<double>(images.desc.shape.front());
}

NamedValues initial_parameters(const Stages& stages) {
  NamedValues initial;
  for (const Stage* stage : stages) {
    for (const Stage::TrainedParameter& parameter : stage->parameters()) {
      std::vector<double>& values = initial[parameter.spec.name];
      if (!values.empty()) continue;  // known from another replica
      for (std::int64_t i = 0; i < parameter.initial.count; ++i) {
        values.push_back(initial_value(parameter, i));
      }
    }
  }
  return initial;
}

using NaiveOutputs = std::map<std::string, std::vector<float>>;

NaiveOutputs outputs_of(double loss, const NamedValues& gradients, const Optimizer& optimizer) {
  NaiveOutputs outputs{{loss_output, {static_cast<float>(loss)}}};
  double squares = 0;
  for (const auto& [name, gradient] : gradients) {
    outputs[gradient_output(name)] = {gradient.begin(), gradient.end()};
    for (const double value : gradient) squares += value * value;
  }
  outputs[clip_factor_output] = {static_cast<float>(naive_clip_factor(optimizer, squares))};
  return outputs;
}

using NaiveSensitivities = std::map<std::string, Sensitivity>;

CheckResult compare(const std::vector<Output>& outputs, const NaiveOutputs& naive,
                    const Tolerance& tolerance, const NaiveSensitivities& sensitivities) {
  for (const Output& output : outputs) {
    const std::vector<float> got = output.read();
    const std::vector<float>& want = naive.at(output.name);
    const auto sensitivity = sensitivities.find(output.name);
    const Agreement found =
        agreement(got, want, tolerance,
                  sensitivity == sensitivities.end() ? Sensitivity() : sensitivity->second);
    if (found.holds()) continue;
    const std::size_t i = found.not_finite.value_or(found.where);
    return naive_difference(fmt::format("the {}[{}]", output.name, i), got[i], want[i]);
  }
  return std::nullopt;
}

CheckResult check_perceptron(CaseParts& parts, const Network& network, NumberFormat format,
                             const Stages& stages, const Optimizer& optimizer) {
  CaseData& data = parts.data;
  const Tensor images = stages.front()->images();
  const NamedValues initial = initial_parameters(stages);
  const NaivePerceptron naive(network, initial,
                              {.images = widened(data.read(images)),
                               .target = widened(data.read(stages.back()->target())),
                               .samples = images.desc.shape.front()},
                              format.dtype);
  Tolerance tolerance = tolerance_of_step(format);
  // The naive network does not round to tf32, and the differences of all linear layers add up.
  if (format.math == MathMode::tf32) tolerance.relative *= linear_layers(network);
  NamedValues gradients = naive.gradients();
  const NaiveOutputs want = outputs_of(naive.loss(), gradients, optimizer);
  if (!compare(parts.outputs, want, tolerance, {})) return std::nullopt;
  gradients = naive.switched_gradients(std::move(gradients), perturbation_of(format));
  NaiveSensitivities sensitivities;
  for (const auto& [name, values] : outputs_of(naive.loss(), gradients, optimizer)) {
    sensitivities[name].add(values, want.at(name));
  }
  return compare(parts.outputs, want, tolerance, sensitivities);
}

// --- boundaries ---

/// A tensor at both ends of a boundary.
struct Passage {
  std::string what;
  Tensor sent;
  Tensor arrived;
};

std::vector<Passage> passages_of(const Stage& stage, const Stage& next, int micro_batch) {
  std::vector<Passage> passages;
  const std::vector<Stage::Passing> there = next.inputs(micro_batch);
  for (std::size_t i = 0; const Stage::Passing& here : stage.outputs(micro_batch)) {
    const Stage::Passing& arrived = there.at(i++);
    if (here.desc == arrived.desc) continue;
    passages.push_back({"activations",
                        {.device = stage.device(), .desc = here.desc, .view = here.values},
                        {.device = next.device(), .desc = arrived.desc, .view = arrived.values}});
    if (here.gradient.bytes == 0) continue;
    passages.push_back({"gradients",
                        {.device = next.device(), .desc = arrived.desc, .view = arrived.gradient},
                        {.device = stage.device(), .desc = here.desc, .view = here.gradient}});
  }
  return passages;
}

CheckResult check_passage(CaseData& data, const Passage& passage) {
  const std::vector<float> sent = data.read(passage.sent);
  const std::vector<float> arrived = data.read(passage.arrived);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (arrived[i] == sent[i]) continue;  // false for NaN
    return fmt::format("{}[{}] arrived on the next device as {:.9g}, but {:.9g} was sent",
                       passage.what, i, arrived[i], sent[i]);
  }
  return std::nullopt;
}

bool is_naively_computable(const Network& network, const Stages& stages) {
  return is_perceptron(network) && naive_products(network, stages.front()->images()) <= max_naive;
}

Check end_check(CaseParts& parts, const Network& network, NumberFormat format, const Stages& stages,
                int micro_batches) {
  CaseData& data = parts.data;
  const std::vector<Output>& outputs = parts.outputs;
  const Stage& last = *stages.back();
  if (!last.holds_whole_batch()) {
    return {"a finite loss", [&] { return check_finite(outputs); }};
  }
  const bool has_own_weights = network.layers.back().tied_to < 0;
  return {
      has_product_at_end(network) && has_own_weights
          ? "loss and sampled gradients of the last layer computed naively"
          : "loss computed naively",
      [&, format, micro_batches] { return check_end(data, network, format, last, micro_batches); }};
}

}  // namespace

Tolerance tolerance_of_step(NumberFormat format) {
  Tolerance tolerance = tolerance_of(format);
  tolerance.absolute = 0;
  return tolerance;
}

void add_step_checks(CaseParts& parts, const Network& network, NumberFormat format,
                     const Stages& stages, int micro_batches, const Optimizer& optimizer) {
  if (!is_naively_computable(network, stages)) {
    parts.checks.push_back(end_check(parts, network, format, stages, micro_batches));
    return;
  }
  parts.checks.push_back({"loss and all gradients computed by a naive network",
                          [&parts, &network, format, stages, optimizer] {
                            return check_perceptron(parts, network, format, stages, optimizer);
                          }});
}

void add_loss_check(CaseParts& parts) {
  parts.checks.push_back(
      {"a finite loss", [&outputs = parts.outputs] { return check_finite(outputs); }});
}

void add_boundary_check(CaseParts& parts, const Stages& stages, int last_micro_batch) {
  for (std::size_t s = 1; s < stages.size(); ++s) {
    for (const Passage& passage : passages_of(*stages[s - 1], *stages[s], last_micro_batch)) {
      parts.checks.push_back(
          {"tensors sent between devices of different kinds",
           [&data = parts.data, passage] { return check_passage(data, passage); }});
    }
  }
}

}  // namespace parbench
