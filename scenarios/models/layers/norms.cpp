// Shapes and operations of normalisations, including the operations fused into them.
#include "scenarios/models/layers/norms.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"
#include "scenarios/models/layers/sums.h"

namespace parbench {
namespace {

constexpr std::size_t line_of_floats = 16;

/// Computes the gradient of the ReLU's input from the gradient of the output, contributes it to the
/// addend, and returns it for the normalisation.
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
  std::vector<SymbolicBinding> bindings = {
      {"mask", pass.kept("mask")}, {"a", a.view}, {"diff_source", result.view}};
  if (two) bindings.push_back({"b", b.view});
  pass.emit(op, bindings);
  if (!in_place) pass.release(a);
  if (two) pass.release(b);
  pass.share(result);
  pass.contribute(1, result);
  return result;
}

/// Returns the parameters: factors, initially 1, and addends, initially 0.
std::vector<ParameterSpec> scale_and_shift(std::int64_t count) {
  return {{.name = "weight", .role = "scale", .shape = {count}, .initial = constant(1.0F)},
          {.name = "bias", .role = "shift", .shape = {count}, .initial = constant(0.0F)}};
}

}  // namespace

Shape BatchNorm::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.size() > 1 && (!relu_ || inputs[1] != inputs[0])) {
    throw std::invalid_argument("an addend needs the layer's shape and a ReLU after it");
  }
  return inputs.at(0);
}

std::vector<ParameterSpec> BatchNorm::parameters(const Shape& input) const {
  return scale_and_shift(input.at(0));
}

std::size_t BatchNorm::statistics(const Shape& input) const {
  return 2 * round_up(static_cast<std::size_t>(input.at(0)), line_of_floats);
}

std::int64_t BatchNorm::min_samples(const Shape& output) const {
  return element_count(output) == output.at(0) ? 2 : 1;
}

OpDesc BatchNorm::forward(const LayerWork& work) const {
  return BatchNormForward{.shape = work.output,
                          .dtype = work.dtype,
                          .relu = relu_,
                          .epsilon = epsilon_,
                          .add = work.inputs.size() > 1};
}

void BatchNorm::write_forward(ForwardPass& pass) const {
  const SymbolicView running = pass.statistics();
  const std::size_t bytes = canonical({pass.work().output.at(1)}).bytes;
  write_operation(pass, {{"running_mean", running.part(0, bytes)},
                         {"running_variance", running.part(running.bytes / 2, bytes)}});
}

void BatchNorm::write_backward(BackwardPass& pass) const {
  const bool adds = pass.work().inputs.size() > 1;
  (void)write_gradients(pass, adds ? write_addition_backward(pass) : pass.gradient());
}

Shape LayerNorm::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.front() *= gathered_.count;
  return output;
}

std::vector<ParameterSpec> LayerNorm::parameters(const Shape& input) const {
  return scale_and_shift(input.back());
}

OpDesc LayerNorm::forward(const LayerWork& work) const {
  return LayerNormForward{.shape = work.inputs.at(0), .dtype = work.dtype, .epsilon = epsilon_};
}

void LayerNorm::write_forward(ForwardPass& pass) const {
  if (gathered_.is_whole()) return write_operation(pass);
  const SymbolicView output = pass.place_output(pass.activation(pass.work().output).bytes);
  write_operation(pass, {{"destination", part_of(output, gathered_)}});
  pass.exchange(Collective::all_gather, output);
}

void LayerNorm::write_backward(BackwardPass& pass) const {
  const Gradient incoming = pass.gradient();
  if (!gathered_.is_whole()) {
    if (!pass.is_exclusive(incoming)) throw std::logic_error("others read a gradient to be summed");
    add_up_part(pass, incoming.view, gathered_);
  }
  (void)write_gradients(pass, incoming, gathered_);
}

Shape LocalResponseNorm::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  if (image.size() != 3) throw std::invalid_argument("a local response normalisation has an image");
  if (options_.size < 1 || options_.size % 2 == 0) {
    throw std::invalid_argument(
        fmt::format("the size of a local response normalisation is odd, not {}", options_.size));
  }
  const bool is_positive = options_.offset > 0 && options_.alpha >= 0;  // false for NaN
  if (!is_positive) {
    throw std::invalid_argument(
        fmt::format("a local response normalisation adds to a positive number, not {} to {}",
                    options_.alpha, options_.offset));
  }
  return image;
}

OpDesc LocalResponseNorm::forward(const LayerWork& work) const {
  return LocalResponseNormForward{.shape = work.output,
                                  .dtype = work.dtype,
                                  .size = options_.size,
                                  .alpha = options_.alpha,
                                  .beta = options_.beta,
                                  .offset = options_.offset};
}

}  // namespace parbench
