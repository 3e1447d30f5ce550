// Scenario tensor-parallel: training of a transformer block whose layers are divided over devices
// as in Megatron-LM.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_tensor_parallel();

}  // namespace parbench
