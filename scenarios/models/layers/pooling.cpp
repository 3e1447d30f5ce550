// Calls of poolings: their backward passes read no tensor of the forward pass.
#include "scenarios/models/layers/pooling.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {

PoolingShape MaxPool::shape(const Shape& source) const {
  return {.source = source,
          .kernel = window_.kernel,
          .stride = window_.stride,
          .padding = window_.padding};
}

Shape MaxPool::output_of(const std::vector<Shape>& inputs) const {
  return window_.output(inputs.at(0).at(0), inputs.at(0));
}

void MaxPool::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(MaxPoolForward{.shape = shape(work.inputs.at(0)), .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"indices", pass.keep("indices", op.tensor("indices").bytes)}});
}

void MaxPool::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(MaxPoolBackward{.shape = shape(work.inputs.at(0)), .dtype = work.dtype});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"diff_destination", incoming.view},
                 {"indices", pass.kept("indices")},
                 {"diff_source", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

Shape GlobalAveragePool::output_of(const std::vector<Shape>& inputs) const {
  return {inputs.at(0).at(0)};
}

void GlobalAveragePool::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(GlobalAveragePoolForward{.source = work.inputs.at(0), .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void GlobalAveragePool::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op =
      pass.prepare(GlobalAveragePoolBackward{.source = work.inputs.at(0), .dtype = work.dtype});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"diff_destination", incoming.view}, {"diff_source", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
