// Shapes and calls of padding.
#include "scenarios/models/layers/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

/// Returns the padded extent. Throws if nothing is left of the image.
std::int64_t padded(std::int64_t extent, std::int64_t before, std::int64_t behind) {
  constexpr std::int64_t max = 1 << 20;
  if (std::max({before, behind, -before, -behind}) > max) {
    throw std::invalid_argument("its padding is larger than any image");
  }
  const std::int64_t left =
      extent + std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(behind, 0);
  if (left < 1) throw std::invalid_argument("its padding leaves nothing of the image");
  return extent + before + behind;
}

}  // namespace

Shape Padding::output_of(const std::vector<Shape>& inputs) const {
  const Shape& image = inputs.at(0);
  if (image.size() != 3) {
    throw std::invalid_argument(
        fmt::format("an image has 3 dimensions, not the {} of {}", image.size(), to_string(image)));
  }
  return {image[0], padded(image[1], edges_.top, edges_.bottom),
          padded(image[2], edges_.left, edges_.right)};
}

void Padding::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  Op& op =
      pass.prepare(PadImage{.source = work.inputs.at(0), .edges = edges_, .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void Padding::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const Gradient incoming = pass.gradient();
  if (!pass.is_wanted(0)) return pass.release(incoming);
  Op& op = pass.prepare(
      PadImage{.source = work.output, .edges = edges_.reversed(), .dtype = work.dtype});
  const Gradient result = pass.make(0, op.tensor("destination").bytes);
  pass.emit(op, {{"source", incoming.view}, {"destination", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
