// Shapes and calls of a long short-term memory.
#include "scenarios/models/layers/lstm.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

/// Returns the parameter "bias" in the operation's layout; zeros if the layer has none.
BufferView bias_or_zeros(ForwardPass& pass, bool has_bias, const TensorDesc& wanted) {
  if (has_bias) return pass.parameter("bias", wanted);
  const BufferView zeros = pass.scratch(wanted.bytes);
  Op& fill = pass.prepare(Fill{.count = element_count(wanted.shape),
                               .dtype = wanted.dtype,
                               .distribution = Distribution::constant,
                               .low = 0.0F});
  pass.emit(fill, {{"destination", zeros}});
  return zeros;
}

}  // namespace

LstmShape Lstm::shape(const LayerWork& work) const {
  const Shape& source = work.inputs.at(0);
  return {.batch = source.at(0),
          .sequence = source.at(1),
          .in_features = source.at(2),
          .hidden = hidden_};
}

LstmBackwardWeights Lstm::weight_gradient(const LayerWork& work, bool accumulate) const {
  return {.shape = shape(work), .dtype = work.dtype, .accumulate = accumulate, .math = work.math};
}

Shape Lstm::output_of(const std::vector<Shape>& inputs) const {
  const Shape& input = inputs.at(0);
  if (input.size() != 2) {
    throw std::invalid_argument(
        fmt::format("an LSTM needs {{sequence, width}}, not {}", to_string(input)));
  }
  return {input.front(), hidden_};
}

std::vector<ParameterSpec> Lstm::parameters(const Shape& input, const Shape& /*output*/) const {
  const InitialValues initial = uniform_by_inputs(hidden_);
  std::vector<ParameterSpec> found{{.name = "weight_ih",
                                    .role = "weights",
                                    .shape = {4 * hidden_, input.back()},
                                    .initial = initial},
                                   {.name = "weight_hh",
                                    .role = "recurrent_weights",
                                    .shape = {4 * hidden_, hidden_},
                                    .initial = initial}};
  if (bias_) {
    found.push_back({.name = "bias", .role = "bias", .shape = {4 * hidden_}, .initial = initial});
  }
  return found;
}

std::optional<OpDesc> Lstm::gradient_of(std::string_view role, const LayerWork& work) const {
  if (role == "bias") return std::nullopt;
  return weight_gradient(work, false);
}

void Lstm::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(LstmForward{.shape = shape(work), .dtype = work.dtype, .math = work.math});
  pass.emit(op, {{"source", pass.input(0)},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"recurrent_weights",
                  pass.parameter("recurrent_weights", op.tensor("recurrent_weights"))},
                 {"bias", bias_or_zeros(pass, bias_, op.tensor("bias"))},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"saved", pass.keep("saved", op.tensor("saved").bytes)}});
}

/// Emits the data's gradient first: the gradient of the weights reads its results.
void Lstm::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op =
      pass.prepare(LstmBackwardData{.shape = shape(work), .dtype = work.dtype, .math = work.math});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"destination", pass.output()},
                 {"diff_destination", incoming.view},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"recurrent_weights",
                  pass.parameter("recurrent_weights", op.tensor("recurrent_weights"))},
                 {"saved", pass.kept("saved")},
                 {"diff_source", result.view}});
  std::vector<Binding> bindings{
      {"source", pass.input(0)}, {"destination", pass.output()}, {"saved", pass.kept("saved")}};
  std::vector<std::string_view> roles{"weights", "recurrent_weights"};
  std::optional<Gradient> dropped;
  if (bias_) {
    roles.emplace_back("bias");
  } else {
    dropped = pass.make_temporary(canonical({shape(work).gates()}).bytes);
    bindings.push_back({"diff_bias", dropped->view});
  }
  pass.emit_parameter_gradients(weight_gradient(work, false), weight_gradient(work, true),
                                std::move(bindings), roles);
  if (dropped) pass.release(*dropped);
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
