// Known work for the harness itself: tasks that spin for a time that is known beforehand.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_selftest();

}  // namespace parbench
