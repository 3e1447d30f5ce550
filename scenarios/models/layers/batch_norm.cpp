// Calls of a batch normalisation with its ReLU and addition.
#include "scenarios/models/layers/batch_norm.h"

#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

constexpr std::size_t line_of_floats = 16;

/// Propagates the gradient of the output through the ReLU and the addition. Contributes the result
/// to the addend and returns it for the normalisation.
Gradient write_addition_backward(BackwardPass& pass) {
  const std::vector<Gradient> parts = pass.gradient_in_parts();
  const bool two = parts.size() == 2;
  Gradient a = parts.front();
  Gradient b = parts.back();
  if (!pass.is_exclusive(a)) std::swap(a, b);
  Op& op = pass.prepare(AddReluBackward{
      .shape = pass.work().output, .dtype = pass.work().dtype, .two_gradients = two});
  const bool in_place = pass.is_exclusive(a);
  const Gradient result = in_place ? a : pass.make_temporary(op.tensor("diff_source").bytes);
  std::vector<Binding> bindings = {
      {"mask", pass.kept("mask")}, {"a", a.view}, {"diff_source", result.view}};
  if (two) bindings.push_back({"b", b.view});
  pass.emit(op, bindings);
  if (!in_place) pass.release(a);
  if (two) pass.release(b);
  pass.share(result);
  pass.contribute(1, result);
  return result;
}

}  // namespace

Shape BatchNorm::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.size() > 1 && (!relu_ || inputs[1] != inputs[0])) {
    throw std::invalid_argument("an addend needs the layer's shape and a ReLU behind it");
  }
  return inputs.at(0);
}

std::vector<ParameterSpec> BatchNorm::parameters(const Shape& input,
                                                 const Shape& /*output*/) const {
  const Shape channels{input.at(0)};
  return {{.name = "weight", .role = "scale", .shape = channels, .initial = constant(1.0F)},
          {.name = "bias", .role = "shift", .shape = channels, .initial = constant(0.0F)}};
}

std::size_t BatchNorm::statistics(const Shape& input) const {
  return 2 * round_up(static_cast<std::size_t>(input.at(0)), line_of_floats);
}

std::int64_t BatchNorm::min_samples(const Shape& output) const {
  return element_count(output) == output.at(0) ? 2 : 1;
}

void BatchNorm::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const bool adds = work.inputs.size() > 1;
  Op& op = pass.prepare(BatchNormForward{
      .shape = work.output, .dtype = work.dtype, .relu = relu_, .epsilon = epsilon_, .add = adds});
  const std::size_t bytes = op.tensor("mean").bytes;
  const BufferView running = pass.statistics();
  std::vector<Binding> bindings = {
      {"source", pass.input(0)},
      {"scale", pass.parameter("scale", op.tensor("scale"))},
      {"shift", pass.parameter("shift", op.tensor("shift"))},
      {"running_mean", running.part(0, bytes)},
      {"running_variance", running.part(running.bytes / 2, bytes)},
      {"destination", pass.place_output(op.tensor("destination").bytes)},
      {"mean", pass.keep("mean", bytes)},
      {"variance", pass.keep("variance", bytes)}};
  if (relu_) bindings.push_back({"mask", pass.keep("mask", op.tensor("mask").bytes)});
  if (adds) bindings.push_back({"addend", pass.input(1)});
  pass.emit(op, bindings);
}

void BatchNorm::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const bool adds = work.inputs.size() > 1;
  const bool relu = relu_ && !adds;  // otherwise it follows the addition
  const Gradient incoming = adds ? write_addition_backward(pass) : pass.gradient();
  Op& op = pass.prepare(BatchNormBackward{.shape = work.output,
                                          .dtype = work.dtype,
                                          .relu = relu,
                                          .epsilon = epsilon_,
                                          .accumulate = pass.accumulates()});
  const Gradient result = pass.reuse(incoming, 0, op.tensor("diff_source").bytes);
  std::vector<Binding> bindings = {{"source", pass.input(0)},
                                   {"diff_destination", incoming.view},
                                   {"mean", pass.kept("mean")},
                                   {"variance", pass.kept("variance")},
                                   {"scale", pass.parameter("scale", op.tensor("scale"))},
                                   {"shift", pass.parameter("shift", op.tensor("shift"))},
                                   {"diff_source", result.view},
                                   {"diff_scale", pass.parameter_gradient("scale")},
                                   {"diff_shift", pass.parameter_gradient("shift")}};
  if (relu) bindings.push_back({"mask", pass.kept("mask")});
  pass.emit(op, bindings);
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
