// How the plan of a case is launched, known before anything of it runs.
#pragma once

#include "scenarios/plan.h"
#include "scenarios/scenario.h"

namespace parbench {

/// As the strategy says, or as a graph because the run asked for it. Throws Unsupported for a plan
/// that no graph can hold: a launching thread for each lane, or lanes of several backends.
[[nodiscard]] Launch launch_of(const CaseSpec& spec, const Plan& plan);

}  // namespace parbench
