#include "bench/sampling/budget.h"

#include <cmath>

#include "bench/sampling/cost_rounds.h"

namespace parbench {

Budget budget_of(const TimeNeeds& needs) {
  constexpr double share = 0.04;  // share of the time left, reserved besides the estimate
  Budget budget{.total_seconds = needs.left + needs.warm_up, .other_share = cost_share};
  if (needs.profiling <= 0) return budget;
  const double put_aside =
      profiling_slowdown * needs.profiling + (std::isfinite(needs.left) ? share * needs.left : 0);
  budget.leaves_profiling = needs.left - put_aside >= needs.floor;
  if (!budget.leaves_profiling) return budget;
  budget.total_seconds -= put_aside;
  budget.margin_seconds = put_aside - needs.profiling;
  return budget;
}

}  // namespace parbench
