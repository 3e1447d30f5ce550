// From the recording of a case to the profile in its report.
#pragma once

#include "bench/execution/plan_runner.h"
#include "reports/model/profile.h"

namespace parbench {

[[nodiscard]] report::Profile profile_of(const Recording& recording);

}  // namespace parbench
