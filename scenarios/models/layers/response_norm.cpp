// Calls of a local response normalisation.
#include "scenarios/models/layers/response_norm.h"

#include <fmt/format.h>

#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {

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

void LocalResponseNorm::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(LocalResponseNormForward{.shape = work.output,
                                                 .dtype = work.dtype,
                                                 .size = options_.size,
                                                 .alpha = options_.alpha,
                                                 .beta = options_.beta,
                                                 .offset = options_.offset});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"saved", pass.keep("saved", op.tensor("saved").bytes)}});
}

void LocalResponseNorm::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op = pass.prepare(LocalResponseNormBackward{.shape = work.output,
                                                  .dtype = work.dtype,
                                                  .size = options_.size,
                                                  .alpha = options_.alpha,
                                                  .beta = options_.beta,
                                                  .offset = options_.offset});
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
  pass.emit(op, {{"source", pass.input(0)},
                 {"diff_destination", incoming.view},
                 {"saved", pass.kept("saved")},
                 {"diff_source", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
