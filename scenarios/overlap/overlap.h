// Scenario E3: how much of the time of copies can be hidden by computation?
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_overlap();

}  // namespace parbench
