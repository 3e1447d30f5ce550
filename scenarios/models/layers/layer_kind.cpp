// Defaults that most layer kinds share.
#include "scenarios/models/layers/layer_kind.h"

#include <cmath>
#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {

InitialValues constant(float value) {
  return {.distribution = Distribution::constant, .low = value};
}

InitialValues uniform_by_inputs(std::int64_t inputs) {
  const float limit = 1.0F / std::sqrt(static_cast<float>(inputs));
  return {.distribution = Distribution::uniform, .low = -limit, .high = limit};
}

BufferView part_of(const BufferView& whole, PositionPart part) {
  const std::size_t bytes = whole.bytes / static_cast<std::size_t>(part.count);
  return whole.part(static_cast<std::size_t>(part.index) * bytes, bytes);
}

void LayerPass::exchange(Collective /*collective*/, const BufferView& /*data*/) {
  throw std::logic_error("a layer of a divided network in a pass without shards");
}

}  // namespace parbench
