// Scenario E1: do independent branches of a network gain from running in parallel on one device?
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_branch();

}  // namespace parbench
