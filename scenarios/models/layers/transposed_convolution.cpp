// Shapes and calls of a transposed convolution: those of a convolution with source and destination
// exchanged.
#include "scenarios/models/layers/transposed_convolution.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "scenarios/models/layers/channel_bias.h"
#include "scenarios/models/layers/passes.h"
#include "scenarios/models/network.h"

namespace parbench {
namespace {

void check_channels(const TransposedConvolution::Options& options, const Shape& image) {
  if (image.size() != 3) {
    throw std::invalid_argument(
        fmt::format("an image has 3 dimensions, not the {} of {}", image.size(), to_string(image)));
  }
  const std::int64_t groups = options.groups;
  if (groups < 1 || image[0] % groups != 0 || options.out_channels % groups != 0) {
    throw std::invalid_argument(
        fmt::format("{} groups do not divide {} input and {} output channels", groups, image[0],
                    options.out_channels));
  }
}

}  // namespace

Shape TransposedConvolution::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  const Window& window = options_.window;
  check_channels(options_, image);
  if (window.trailing != 0) {
    throw std::invalid_argument("the padding of a convolution is the same at both ends");
  }
  if (options_.output_padding < 0 || options_.output_padding >= window.stride) {
    throw std::invalid_argument(fmt::format("an output padding of {} is not below the stride of {}",
                                            options_.output_padding, window.stride));
  }
  const auto extent = [&](std::int64_t positions) {
    const std::int64_t found = (positions - 1) * window.stride + window.extent() -
                               2 * window.padding + options_.output_padding;
    if (found < 1) throw std::invalid_argument("its padding leaves nothing of its output");
    return found;
  };
  return {options_.out_channels, extent(image[1]), extent(image[2])};
}

ConvolutionShape TransposedConvolution::transposed(const Shape& input, const Shape& output) const {
  return {.batch = output.at(0),
          .in_channels = output.at(1),
          .height = output.at(2),
          .width = output.at(3),
          .out_channels = input.at(1),
          .kernel = options_.window.kernel,
          .stride = options_.window.stride,
          .padding = options_.window.padding,
          .groups = options_.groups,
          .dilation = options_.window.dilation};
}

std::vector<ParameterSpec> TransposedConvolution::parameters(const Shape& input,
                                                             const Shape& output) const {
  const float fan_out =
      static_cast<float>(input.at(0) * options_.window.kernel * options_.window.kernel);
  std::vector<ParameterSpec> found;
  found.push_back(
      {.name = "weight",
       .role = "weights",
       .shape = transposed(with_samples(1, input), with_samples(1, output)).weights(),
       .initial = {
           .distribution = Distribution::normal, .low = 0.0F, .high = std::sqrt(2.0F / fan_out)}});
  if (options_.bias) {
    const std::int64_t inputs = options_.out_channels / options_.groups * options_.window.kernel *
                                options_.window.kernel;  // in PyTorch's order
    found.push_back({.name = "bias",
                     .role = "bias",
                     .shape = {options_.out_channels},
                     .initial = uniform_by_inputs(inputs)});
  }
  return found;
}

ConvolutionBackwardData TransposedConvolution::forward(const LayerWork& work) const {
  return {
      .shape = transposed(work.inputs.at(0), work.output), .dtype = work.dtype, .math = work.math};
}

ConvolutionForward TransposedConvolution::data_gradient(const LayerWork& work) const {
  return {
      .shape = transposed(work.inputs.at(0), work.output), .dtype = work.dtype, .math = work.math};
}

ConvolutionBackwardWeights TransposedConvolution::weight_gradient(const LayerWork& work,
                                                                  bool accumulate) const {
  return {.shape = transposed(work.inputs.at(0), work.output),
          .dtype = work.dtype,
          .accumulate = accumulate,
          .math = work.math};
}

std::vector<OpDesc> TransposedConvolution::products(const LayerWork& work,
                                                    bool with_data_gradient) const {
  std::vector<OpDesc> all{forward(work)};
  if (with_data_gradient) all.emplace_back(data_gradient(work));
  all.emplace_back(weight_gradient(work, false));
  return all;
}

std::optional<OpDesc> TransposedConvolution::gradient_of(std::string_view role,
                                                         const LayerWork& work) const {
  if (role != "weights") return std::nullopt;
  return weight_gradient(work, false);
}

void TransposedConvolution::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(forward(pass.work()));
  const BufferView output = pass.place_output(op.tensor("diff_source").bytes);
  pass.emit(op, {{"diff_destination", pass.input(0)},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"diff_source", output}});
  if (options_.bias) write_bias(pass, output, output);
}

void TransposedConvolution::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Gradient incoming = pass.gradient();
  pass.emit_parameter_gradients(weight_gradient(work, false), weight_gradient(work, true),
                                {{"source", incoming.view}, {"diff_destination", pass.input(0)}},
                                {"weights"});
  if (options_.bias) write_bias_gradient(pass, incoming.view);
  if (pass.is_wanted(0)) {
    Op& op = pass.prepare(data_gradient(work));
    const Gradient result = pass.make(0, op.tensor("destination").bytes);
    pass.emit(op, {{"source", incoming.view},
                   {"weights", pass.parameter("weights", op.tensor("weights"))},
                   {"destination", result.view}});
    pass.contribute(0, result);
  }
  pass.release(incoming);
}

}  // namespace parbench
