// A row has the order of a canonical image, so flattening is a change of layout.
#include "scenarios/models/layers/flatten.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

void Flatten::write_forward(ForwardPass& pass) const {
  const Shape& image = pass.work().inputs.at(0);
  const TensorDesc rows = canonical(image, pass.work().dtype);
  Op& op = pass.prepare(Reorder{.source = pass.activation(image), .destination = rows});
  pass.emit(op, {{"source", pass.input(0)}, {"destination", pass.place_output(rows.bytes)}});
}

void Flatten::write_backward(BackwardPass& pass) const {
  const Shape& image = pass.work().inputs.at(0);
  const TensorDesc images = pass.activation(image);
  Op& op =
      pass.prepare(Reorder{.source = canonical(image, pass.work().dtype), .destination = images});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, images.bytes);
  pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
