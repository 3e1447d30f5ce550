// Initial values, and defaults that most layer kinds share.
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

void LayerPass::exchange(Collective /*collective*/, const SymbolicView& /*data*/) {
  throw std::logic_error("a layer of a divided network in a pass without shards");
}

}  // namespace parbench
