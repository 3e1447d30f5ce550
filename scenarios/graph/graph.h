// E5, automatic parallelism: a graph of operations run by its dependencies on several devices.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_graph();

}  // namespace parbench
