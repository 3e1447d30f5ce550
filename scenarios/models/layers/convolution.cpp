// Shapes and operations of convolutions. A transposed convolution is described by a convolution
// whose source is the output of the layer.
#include "scenarios/models/layers/convolution.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "scenarios/models/layers/images.h"
#include "scenarios/models/network.h"

namespace parbench {
namespace {

void check_channels(const TransposedConvolution::Options& options, const Shape& image) {
  require_image(image);
  const std::int64_t groups = options.groups;
  if (groups < 1 || image[0] % groups != 0 || options.out_channels % groups != 0) {
    throw std::invalid_argument(
        fmt::format("{} groups do not divide {} input and {} output channels", groups, image[0],
                    options.out_channels));
  }
}

void check_padding(const Window& window) {
  if (window.trailing == 0) return;
  throw std::invalid_argument("the padding of a convolution is the same at both ends");
}

/// Returns weights with variance 2/`outputs` (fan-out) and, unless `inputs` (fan-in) is 0, a bias
/// for `channels` with the initial values of torch.nn.Conv2d.
std::vector<ParameterSpec> weights_and_bias(const ConvolutionShape& shape, std::int64_t outputs,
                                            std::int64_t channels, std::int64_t inputs) {
  const float deviation = std::sqrt(2.0F / static_cast<float>(outputs));
  std::vector<ParameterSpec> found{
      {.name = "weight",
       .role = "weights",
       .shape = shape.weights(),
       .initial = {.distribution = Distribution::normal, .low = 0.0F, .high = deviation}}};
  if (inputs == 0) return found;
  found.push_back(
      {.name = "bias", .role = "bias", .shape = {channels}, .initial = uniform_by_inputs(inputs)});
  return found;
}

}  // namespace

ConvolutionShape Convolution::shape(const Shape& source) const {
  return {.batch = source.at(0),
          .in_channels = source.at(1),
          .height = source.at(2),
          .width = source.at(3),
          .out_channels = options_.out_channels,
          .kernel = options_.window.kernel,
          .stride = options_.window.stride,
          .padding = options_.window.padding,
          .groups = options_.groups,
          .dilation = options_.window.dilation};
}

Shape Convolution::output_of(const std::vector<Shape>& inputs) const {
  check_padding(options_.window);
  return options_.window.output(options_.out_channels, inputs.at(0));
}

std::vector<ParameterSpec> Convolution::parameters(const Shape& input) const {
  const std::int64_t taps = options_.window.kernel * options_.window.kernel;
  return weights_and_bias(shape(with_samples(1, input)), options_.out_channels * taps,
                          options_.out_channels,
                          options_.bias ? input.at(0) / options_.groups * taps : 0);
}

OpDesc Convolution::forward(const LayerWork& work) const {
  return ConvolutionForward{.shape = shape(work.inputs.at(0)),
                            .dtype = work.dtype,
                            .bias = options_.bias,
                            .math = work.math,
                            .relu = options_.relu};
}

Shape TransposedConvolution::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  const Window& window = options_.window;
  check_channels(options_, image);
  check_padding(window);
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
  const Convolution other(
      {.out_channels = input.at(1), .window = options_.window, .groups = options_.groups});
  return other.shape(output);
}

std::vector<ParameterSpec> TransposedConvolution::parameters(const Shape& input) const {
  const std::int64_t taps = options_.window.kernel * options_.window.kernel;
  return weights_and_bias(transposed(with_samples(1, input), with_samples(1, output_of({input}))),
                          input.at(0) * taps, options_.out_channels,
                          options_.bias ? options_.out_channels / options_.groups * taps : 0);
}

OpDesc TransposedConvolution::forward(const LayerWork& work) const {
  return ConvolutionBackwardData{
      .shape = transposed(work.inputs.at(0), work.output), .dtype = work.dtype, .math = work.math};
}

std::vector<OpDesc> TransposedConvolution::gradients(const LayerWork& work, bool accumulate) const {
  std::vector<OpDesc> all = OperationKind::gradients(work, accumulate);
  if (options_.bias) {
    all.insert(all.begin() + 1,
               SumChannels{.shape = work.output, .dtype = work.dtype, .accumulate = accumulate});
  }
  return all;
}

void TransposedConvolution::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const SymbolicView output = pass.place_output(pass.activation(work.output).bytes);
  write_operation(pass, {{"diff_source", output}});
  if (!options_.bias) return;
  Op& op = pass.prepare(AddChannelBias{.shape = work.output, .dtype = work.dtype});
  pass.emit(op, {{"source", output},
                 {"bias", pass.parameter("bias", op.tensor("bias"))},
                 {"destination", output}});
}

}  // namespace parbench
