// Calls of poolings, whose backward passes read no tensor of the forward pass.
#include "scenarios/models/layers/pooling.h"

#include <fmt/format.h>

#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

/// Returns the shape of the operation for a micro-batch.
PoolingShape shape_of(const Window& window, const Shape& source) {
  return {.source = source,
          .kernel = window.kernel,
          .stride = window.stride,
          .padding = window.padding,
          .trailing = window.trailing};
}

Shape pooled(const Window& window, const Shape& image) {
  if (window.dilation != 1) throw std::invalid_argument("a pooling has no dilation");
  const bool fits = window.trailing == 0 ? 2 * window.padding <= window.kernel
                                         : window.padding + window.trailing < window.kernel;
  if (!fits) {
    throw std::invalid_argument(fmt::format("padding of {} and {} could fill a window of {}",
                                            window.padding, window.padding + window.trailing,
                                            window.kernel));
  }
  return window.output(image.at(0), image);
}

}  // namespace

Shape MaxPool::output_of(const std::vector<Shape>& inputs) const {
  return pooled(window_, inputs.at(0));
}

void MaxPool::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(
      MaxPoolForward{.shape = shape_of(window_, work.inputs.at(0)), .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"indices", pass.keep("indices", op.tensor("indices").bytes)}});
}

void MaxPool::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(
      MaxPoolBackward{.shape = shape_of(window_, work.inputs.at(0)), .dtype = work.dtype});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"diff_destination", incoming.view},
                 {"indices", pass.kept("indices")},
                 {"diff_source", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

Shape AveragePool::output_of(const std::vector<Shape>& inputs) const {
  return pooled(window_, inputs.at(0));
}

void AveragePool::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(AveragePoolForward{.shape = shape_of(window_, work.inputs.at(0)),
                                           .dtype = work.dtype,
                                           .count_padding = count_padding_});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void AveragePool::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(AveragePoolBackward{.shape = shape_of(window_, work.inputs.at(0)),
                                            .dtype = work.dtype,
                                            .count_padding = count_padding_});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"diff_destination", incoming.view}, {"diff_source", result.view}});
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
