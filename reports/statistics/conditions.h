// The conditions of a case, from those of its samples.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Fills `conditions`, `throttling` and `quota_lost` of a case from its samples.
void summarise_conditions(CaseResult& measured);

/// Returns the largest share of a case's time that other programs can have cost it: the time for
/// which any of its threads wanted a core that another program had, as if they had waited one after
/// the other. Below 1; 0 where nothing is known.
[[nodiscard]] double load_cost(const CaseResult& measured);

/// Returns the samples of a case, each without the largest share of its time that other programs
/// can have cost it. A sample without readings has the mean of the case.
[[nodiscard]] std::vector<Sample> samples_without_load(const CaseResult& measured);

}  // namespace parbench::report
