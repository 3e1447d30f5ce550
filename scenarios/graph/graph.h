// Scenario E5, automatic parallelism: a graph of operations on several devices, ordered by
// dependencies.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_graph();

}  // namespace parbench
