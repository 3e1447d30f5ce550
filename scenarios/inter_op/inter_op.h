// Scenario inter-op: do the branches of a whole network gain from running in parallel on one
// device?
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_inter_op();

}  // namespace parbench
