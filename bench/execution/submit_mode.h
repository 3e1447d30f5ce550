// Decides how the host submits the plan of a case, before it runs.
#pragma once

#include "scenarios/framework/plan.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the plan's mode, or `graph` if the run requests it. Throws Unsupported if no graph can
/// hold the plan: it has a launching thread per lane, or lanes of several backends.
[[nodiscard]] SubmitMode submit_mode_of(const CaseSpec& spec, const Plan& plan);

}  // namespace parbench
