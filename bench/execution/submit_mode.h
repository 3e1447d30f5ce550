// Decides how the host submits the plan of a case, before it runs.
#pragma once

#include "scenarios/framework/plan.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the plan's mode, or `graph` if the run requests it. Throws Unsupported if a graph cannot
/// hold the plan, because it needs a launching thread per lane or has lanes of several backends,
/// and if a plan with a launching thread per lane uses a device that only one thread may use.
[[nodiscard]] SubmitMode submit_mode_of(const CaseSpec& spec, const Plan& plan);

}  // namespace parbench
