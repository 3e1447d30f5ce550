// Scenario E4: one model in training over several devices, with whole batches or micro-batches.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_pipeline();

}  // namespace parbench
