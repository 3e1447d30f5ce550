// Scenario copies: one array copied to a device on one stream, or on two.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_copies();

}  // namespace parbench
