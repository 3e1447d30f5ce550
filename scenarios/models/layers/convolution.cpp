// Shapes and calls of a convolution.
#include "scenarios/models/layers/convolution.h"

#include <cmath>
#include <stdexcept>

#include "scenarios/models/layers/passes.h"
#include "scenarios/models/layers/products.h"

namespace parbench {

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
  if (options_.window.trailing != 0) {
    throw std::invalid_argument("the padding of a convolution is the same at both ends");
  }
  return options_.window.output(options_.out_channels, inputs.at(0));
}

std::vector<ParameterSpec> Convolution::parameters(const Shape& input,
                                                   const Shape& /*output*/) const {
  const std::int64_t positions = options_.window.kernel * options_.window.kernel;
  const Shape weights = shape({1, input.at(0), input.at(1), input.at(2)}).weights();
  const float fan_out = static_cast<float>(options_.out_channels * positions);
  std::vector<ParameterSpec> found;
  found.push_back(
      {.name = "weight",
       .role = "weights",
       .shape = weights,
       .initial = {
           .distribution = Distribution::normal, .low = 0.0F, .high = std::sqrt(2.0F / fan_out)}});
  if (options_.bias) {
    found.push_back({.name = "bias",
                     .role = "bias",
                     .shape = {options_.out_channels},
                     .initial = uniform_by_inputs(input.at(0) / options_.groups * positions)});
  }
  return found;
}

ConvolutionForward Convolution::forward(const LayerWork& work) const {
  return {.shape = shape(work.inputs.at(0)),
          .dtype = work.dtype,
          .bias = options_.bias,
          .math = work.math,
          .relu = options_.relu};
}

ConvolutionBackwardData Convolution::data_gradient(const LayerWork& work) const {
  return {.shape = shape(work.inputs.at(0)), .dtype = work.dtype, .math = work.math};
}

ConvolutionBackwardWeights Convolution::weight_gradient(const LayerWork& work,
                                                        bool accumulate) const {
  return {.shape = shape(work.inputs.at(0)),
          .dtype = work.dtype,
          .bias = options_.bias,
          .accumulate = accumulate,
          .math = work.math};
}

std::vector<OpDesc> Convolution::products(const LayerWork& work, bool with_data_gradient) const {
  std::vector<OpDesc> all{forward(work)};
  if (with_data_gradient) all.emplace_back(data_gradient(work));
  all.emplace_back(weight_gradient(work, false));
  return all;
}

std::optional<OpDesc> Convolution::gradient_of(std::string_view role, const LayerWork& work) const {
  if (role != "weights") return std::nullopt;
  return weight_gradient(work, false);
}

void Convolution::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(forward(pass.work()));
  std::vector<Binding> bindings = {
      {"source", pass.input(0)},
      {"weights", pass.parameter("weights", op.tensor("weights"))},
      {"destination", pass.place_output(op.tensor("destination").bytes)}};
  if (options_.bias) bindings.push_back({"bias", pass.parameter("bias", op.tensor("bias"))});
  pass.emit(op, bindings);
}

void Convolution::write_backward(BackwardPass& pass) const {
  if (options_.relu) throw std::logic_error("a convolution with a ReLU has no backward pass");
  const LayerWork& work = pass.work();
  write_product_backward(pass, pass.gradient(), weight_gradient(work, false),
                         weight_gradient(work, true), data_gradient(work), options_.bias);
}

}  // namespace parbench
