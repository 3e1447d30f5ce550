// The conditions of a case, from those of its samples.
#pragma once

#include "reports/model/report.h"

namespace parbench::report {

/// Fills `conditions`, `throttling` and `quota_lost` of a case from its samples.
void summarise_conditions(CaseResult& measured);

}  // namespace parbench::report
