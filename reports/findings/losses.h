// Where the time of several devices goes.
#pragma once

#include <optional>

#include "reports/findings/profiled.h"

namespace parbench::report {

/// Returns the losses on more devices than the baseline, which computes on one. Exact: with T
/// the span, C the mean over the devices of the time in which they compute, and W the baseline's,
/// T − W/p = (C − W/p) + copies while nothing computes + launch waits + other idle time, and the
/// last is imbalance as far as the busiest device computes longer than C. Nothing where there is no
/// such baseline.
[[nodiscard]] std::optional<Losses> losses_of(const Profiled& one, const Profiled& baseline);

/// Returns the sum of all parts: the time above the ideal.
[[nodiscard]] double total(const Losses& losses);

}  // namespace parbench::report
