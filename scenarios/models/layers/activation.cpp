// Calls of an activation.
#include "scenarios/models/layers/activation.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

void Activation::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(ActivationForward{.shape = pass.work().output,
                                          .dtype = pass.work().dtype,
                                          .kind = kind_,
                                          .low = low_,
                                          .high = high_});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void Activation::write_backward(BackwardPass& pass) const {
  Op& op = pass.prepare(ActivationBackward{.shape = pass.work().output,
                                           .dtype = pass.work().dtype,
                                           .kind = kind_,
                                           .low = low_,
                                           .high = high_});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.reuse(incoming, 0, op.tensor("diff_source").bytes);
  const Binding read = backward_reads_source(kind_) ? Binding{"source", pass.input(0)}
                                                    : Binding{"destination", pass.output()};
  pass.emit(op, {read, {"diff_destination", incoming.view}, {"diff_source", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
