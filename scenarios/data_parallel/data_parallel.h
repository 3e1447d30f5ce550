// Scenario E5: one model in training, with the batch divided over devices.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_data_parallel();

}  // namespace parbench
