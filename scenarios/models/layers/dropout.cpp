// Calls of a dropout: the same operation in both passes.
#include "scenarios/models/layers/dropout.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

Dropout RandomDropout::operation(const LayerWork& work) const {
  return {.shape = work.output,
          .dtype = work.dtype,
          .probability = probability_,
          .subsequence = subsequence_};
}

void RandomDropout::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(operation(pass.work()));
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void RandomDropout::write_backward(BackwardPass& pass) const {
  Op& op = pass.prepare(operation(pass.work()));
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.reuse(incoming, 0, op.tensor("destination").bytes);
  pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
