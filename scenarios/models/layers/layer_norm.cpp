// Calls of a layer normalisation.
#include "scenarios/models/layers/layer_norm.h"

#include <stdexcept>

#include "scenarios/models/layers/passes.h"
#include "scenarios/models/layers/sums.h"

namespace parbench {

Shape LayerNorm::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.front() *= gathered_.count;
  return output;
}

std::vector<ParameterSpec> LayerNorm::parameters(const Shape& input,
                                                 const Shape& /*output*/) const {
  return {{.name = "weight", .role = "scale", .shape = {input.back()}, .initial = constant(1.0F)},
          {.name = "bias", .role = "shift", .shape = {input.back()}, .initial = constant(0.0F)}};
}

void LayerNorm::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(LayerNormForward{
      .shape = pass.work().inputs.at(0), .dtype = pass.work().dtype, .epsilon = epsilon_});
  const std::size_t statistic_bytes = op.tensor("mean").bytes;
  const BufferView output =
      pass.place_output(op.tensor("destination").bytes * static_cast<std::size_t>(gathered_.count));
  pass.emit(op, {{"source", pass.input(0)},
                 {"scale", pass.parameter("scale", op.tensor("scale"))},
                 {"shift", pass.parameter("shift", op.tensor("shift"))},
                 {"destination", part_of(output, gathered_)},
                 {"mean", pass.keep("mean", statistic_bytes)},
                 {"variance", pass.keep("variance", statistic_bytes)}});
  if (!gathered_.is_whole()) pass.exchange(Collective::all_gather, output);
}

void LayerNorm::write_backward(BackwardPass& pass) const {
  Op& op = pass.prepare(LayerNormBackward{.shape = pass.work().inputs.at(0),
                                          .dtype = pass.work().dtype,
                                          .epsilon = epsilon_,
                                          .accumulate = pass.accumulates()});
  const Gradient incoming = pass.gradient();
  const std::size_t bytes = op.tensor("diff_source").bytes;
  Gradient result;
  if (gathered_.is_whole()) {
    result = pass.reuse(incoming, 0, bytes);
  } else {
    if (!pass.is_exclusive(incoming)) throw std::logic_error("others read a gradient to be summed");
    add_up_part(pass, incoming.view, gathered_);
    result = pass.make(0, bytes);
  }
  pass.emit(op, {{"source", pass.input(0)},
                 {"diff_destination", part_of(incoming.view, gathered_)},
                 {"mean", pass.kept("mean")},
                 {"variance", pass.kept("variance")},
                 {"scale", pass.parameter("scale", op.tensor("scale"))},
                 {"diff_source", result.view},
                 {"diff_scale", pass.parameter_gradient("scale")},
                 {"diff_shift", pass.parameter_gradient("shift")}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
