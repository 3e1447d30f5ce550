// E5's hybrid: a model in training on a grid of devices, by data, pipeline and tensor parallelism.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_hybrid();

}  // namespace parbench
