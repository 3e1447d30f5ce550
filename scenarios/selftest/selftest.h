// Scenario selftest: tasks that spin for a known time.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_selftest();

}  // namespace parbench
