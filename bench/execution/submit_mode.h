// How the host submits the plan of a case, determined before it runs.
#pragma once

#include "scenarios/framework/plan.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the plan's mode, or `graph` where the run asked for it. Throws Unsupported for a plan
/// that no graph can hold: one with a launching thread per lane, or with lanes of several backends.
[[nodiscard]] SubmitMode submit_mode_of(const CaseSpec& spec, const Plan& plan);

}  // namespace parbench
