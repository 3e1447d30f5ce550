// E3: how much of copying can be hidden behind computing.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_overlap();

}  // namespace parbench
