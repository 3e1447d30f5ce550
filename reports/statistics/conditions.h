// Derives the conditions of a case from those of its samples.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Fills `conditions`, `throttling` and `quota_lost` of a case from its samples.
void summarise_conditions(CaseResult& measured);

/// Returns the largest share of a case's time that other programs can have cost: the time in which
/// any of its threads wanted a core that another program had, as if the threads had waited one
/// after the other. Below 1; 0 if unknown.
[[nodiscard]] double load_cost(const CaseResult& measured);

/// Returns the samples of a case, with the time of each reduced by the largest share that other
/// programs can have cost. The mean over the case replaces missing readings.
[[nodiscard]] std::vector<Sample> samples_without_load(const CaseResult& measured);

}  // namespace parbench::report
