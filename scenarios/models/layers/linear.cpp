// Shapes and calls of a fully connected layer.
#include "scenarios/models/layers/linear.h"

#include "scenarios/models/layers/sums.h"

namespace parbench {

LinearShape Linear::shape(const Shape& source) const {
  return {.batch = element_count(source) / source.back(),
          .in_features = source.back(),
          .out_features = out_features_};
}

Shape Linear::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.front() /= part_.count;
  output.back() = out_features_;
  return output;
}

std::vector<ParameterSpec> Linear::parameters(const Shape& input) const {
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

OpDesc Linear::forward(const LayerWork& work) const {
  return LinearForward{
      .shape = shape(work.inputs.at(0)), .dtype = work.dtype, .math = work.math, .bias = bias_};
}

void Linear::write_forward(ForwardPass& pass) const {
  if (sum_ != PartialSum::output && sum_ != PartialSum::output_part) return write_operation(pass);
  const bool keeps_part = sum_ == PartialSum::output_part;
  const std::size_t own = pass.activation(pass.work().output).bytes;
  const std::size_t bytes = own * static_cast<std::size_t>(part_.count);
  const SymbolicView product = keeps_part ? pass.scratch(bytes) : pass.place_output(bytes);
  write_operation(pass, {{"destination", product}});
  const std::size_t wide = bytes_in_f32(pass, bytes);
  const SymbolicView in_f32 = wide > 0 ? pass.scratch(wide) : SymbolicView();
  if (!keeps_part) return add_up(pass, product, in_f32);
  add_up_part(pass, product, part_, in_f32, pass.place_output(own));
}

Gradient Linear::gathered_gradient(BackwardPass& pass) const {
  const Gradient own = pass.gradient();
  const TensorDesc part = pass.activation(pass.work().output);
  const Gradient whole = pass.make_temporary(part.bytes * static_cast<std::size_t>(part_.count));
  Op& copy = pass.prepare(Reorder{.source = part, .destination = part});
  pass.emit(copy, {{"source", own.view}, {"destination", part_of(whole.view, part_)}});
  pass.release(own);
  pass.exchange(Collective::all_gather, whole.view);
  return whole;
}

void Linear::write_backward(BackwardPass& pass) const {
  const SymbolicView data = write_gradients(
      pass, sum_ == PartialSum::output_part ? gathered_gradient(pass) : pass.gradient());
  if (sum_ == PartialSum::input_gradient && data.bytes > 0) add_up(pass, data);
}

}  // namespace parbench
