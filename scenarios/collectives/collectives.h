// Scenario collectives: how fast do the devices of a run exchange data, and with which algorithm?
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_collectives();

}  // namespace parbench
