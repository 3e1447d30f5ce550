// Hybrid part of scenario E5: a model in training on a grid of devices, with data, pipeline and
// tensor parallelism.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_hybrid();

}  // namespace parbench
