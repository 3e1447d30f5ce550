// Computes the profile in a report from the recording of a case.
#pragma once

#include "bench/execution/plan_runner.h"
#include "reports/model/profile.h"

namespace parbench {

[[nodiscard]] report::Profile profile_of(const Recording& recording);

}  // namespace parbench
