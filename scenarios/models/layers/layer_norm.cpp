// Calls of a layer normalisation.
#include "scenarios/models/layers/layer_norm.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

std::vector<ParameterSpec> LayerNorm::parameters(const Shape& input,
                                                 const Shape& /*output*/) const {
  return {{.name = "weight", .role = "scale", .shape = {input.back()}, .initial = constant(1.0F)},
          {.name = "bias", .role = "shift", .shape = {input.back()}, .initial = constant(0.0F)}};
}

void LayerNorm::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(LayerNormForward{
      .shape = pass.work().output, .dtype = pass.work().dtype, .epsilon = epsilon_});
  const std::size_t statistic_bytes = op.tensor("mean").bytes;
  pass.emit(op, {{"source", pass.input(0)},
                 {"scale", pass.parameter("scale", op.tensor("scale"))},
                 {"shift", pass.parameter("shift", op.tensor("shift"))},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"mean", pass.keep("mean", statistic_bytes)},
                 {"variance", pass.keep("variance", statistic_bytes)}});
}

void LayerNorm::write_backward(BackwardPass& pass) const {
  Op& op = pass.prepare(LayerNormBackward{.shape = pass.work().output,
                                          .dtype = pass.work().dtype,
                                          .epsilon = epsilon_,
                                          .accumulate = pass.accumulates()});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.reuse(incoming, 0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"source", pass.input(0)},
                 {"diff_destination", incoming.view},
                 {"mean", pass.kept("mean")},
                 {"variance", pass.kept("variance")},
                 {"scale", pass.parameter("scale", op.tensor("scale"))},
                 {"diff_source", result.view},
                 {"diff_scale", pass.parameter_gradient("scale")},
                 {"diff_shift", pass.parameter_gradient("shift")}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
