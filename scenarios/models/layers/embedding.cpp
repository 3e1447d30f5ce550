// Calls of an embedding. Tokens have no gradient.
#include "scenarios/models/layers/embedding.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

Shape Embedding::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.push_back(width_);
  return output;
}

std::vector<ParameterSpec> Embedding::parameters(const Shape& /*input*/,
                                                 const Shape& /*output*/) const {
  return {{.name = "weight",
           .role = "weights",
           .shape = {vocabulary_, width_},
           .initial = {.distribution = Distribution::normal, .low = 0.0F, .high = deviation_}}};
}

void Embedding::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(EmbeddingForward{.vocabulary = vocabulary_,
                                         .width = width_,
                                         .count = element_count(work.inputs.at(0)),
                                         .dtype = work.dtype});
  pass.emit(op, {{"indices", pass.input(0)},
                 {"weights", pass.parameter("weights", op.tensor("weights"))},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void Embedding::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Gradient incoming = pass.gradient();
  Op& op = pass.prepare(EmbeddingBackward{.vocabulary = vocabulary_,
                                          .width = width_,
                                          .count = element_count(work.inputs.at(0)),
                                          .dtype = work.dtype,
                                          .accumulate = pass.accumulates()});
  pass.emit(op, {{"indices", pass.input(0)},
                 {"diff_destination", incoming.view},
                 {"diff_weights", pass.parameter_gradient("weights")}});
  pass.release(incoming);
}

}  // namespace parbench
