// E4: one model in training over several devices, whole batches or micro-batches of them at a time.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_pipeline();

}  // namespace parbench
