// Scenario E2: independent matrix products on several devices, on streams, and sharded.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_matmul();

}  // namespace parbench
