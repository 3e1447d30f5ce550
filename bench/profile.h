// From the recording of a case to what its report says of it.
#pragma once

#include "bench/plan_runner.h"
#include "reports/profile.h"

namespace parbench {

[[nodiscard]] report::Profile profile_of(const Recording& recording);

/// How often a case is looked at that takes so long: enough that the median of short ones means
/// something.
[[nodiscard]] int recorded_executions(double execution_seconds);

}  // namespace parbench
