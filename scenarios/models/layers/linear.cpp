// Shapes and calls of a fully connected layer.
#include "scenarios/models/layers/linear.h"

#include "scenarios/models/layers/passes.h"
#include "scenarios/models/layers/products.h"

namespace parbench {

LinearShape Linear::shape(const Shape& source) const {
  return {.batch = element_count(source) / source.back(),
          .in_features = source.back(),
          .out_features = out_features_};
}

Shape Linear::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.back() = out_features_;
  return output;
}

std::vector<ParameterSpec> Linear::parameters(const Shape& input, const Shape& /*output*/) const {
  const InitialValues initial = uniform_by_inputs(input.back());
  std::vector<ParameterSpec> specs{{.name = "weight",
                                    .role = "weights",
                                    .shape = {out_features_, input.back()},
                                    .initial = initial}};
  if (bias_) {
    specs.push_back({.name = "bias", .role = "bias", .shape = {out_features_}, .initial = initial});
  }
  return specs;
}

LinearForward Linear::forward(const LayerWork& work) const {
  return {.shape = shape(work.inputs.at(0)), .dtype = work.dtype, .math = work.math};
}

LinearBackwardData Linear::data_gradient(const LayerWork& work) const {
  return {.shape = shape(work.inputs.at(0)), .dtype = work.dtype, .math = work.math};
}

LinearBackwardWeights Linear::weight_gradient(const LayerWork& work, bool accumulate) const {
  return {.shape = shape(work.inputs.at(0)),
          .dtype = work.dtype,
          .accumulate = accumulate,
          .math = work.math};
}

std::vector<OpDesc> Linear::products(const LayerWork& work, bool with_data_gradient) const {
  std::vector<OpDesc> all{forward(work)};
  if (with_data_gradient) all.emplace_back(data_gradient(work));
  all.emplace_back(weight_gradient(work, false));
  return all;
}

std::optional<OpDesc> Linear::gradient_of(std::string_view role, const LayerWork& work) const {
  if (role != "weights") return std::nullopt;
  return weight_gradient(work, false);
}

/// Operations always add a bias: without one it is zero.
BufferView Linear::bias(ForwardPass& pass, const TensorDesc& wanted) const {
  if (bias_) return pass.parameter("bias", wanted);
  const BufferView zero = pass.keep("zero bias", wanted.bytes);
  Op& fill = pass.prepare(Fill{.count = out_features_,
                               .dtype = wanted.dtype,
                               .distribution = Distribution::constant,
                               .low = 0.0F});
  pass.emit(fill, {{"destination", zero}});
  return zero;
}

void Linear::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(forward(pass.work()));
  const BufferView added = bias(pass, op.tensor("bias"));
  pass.emit(op, {{"source", pass.input(0)},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"bias", added},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void Linear::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  write_product_backward(pass, weight_gradient(work, false), weight_gradient(work, true),
                         data_gradient(work), bias_ ? BiasGradient::wanted : BiasGradient::dropped);
}

}  // namespace parbench
