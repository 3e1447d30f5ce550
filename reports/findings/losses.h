// Divides the time that several devices lose, compared with an ideal division of the work.
#pragma once

#include <optional>

#include "reports/findings/profiled.h"
#include "reports/findings/rules.h"

namespace parbench::report {

/// Returns the losses on p > 1 devices compared with a baseline on one. With T the span, S the
/// speedup of the samples and B = T·S/p the baseline's time divided among the devices, T − B is
/// divided into (mean computing time − that of B) + (copies while nothing computes − those of B) +
/// (launch waits − idle time of B) + other idle time. The latter is imbalance to the extent that
/// the busiest device computes longer than the mean. The baseline's profile gives the parts of B:
/// profiles only provide shares of the time, and the samples provide the times. Nothing without
/// such a baseline. Requires the speedup.
[[nodiscard]] std::optional<Losses> losses_of(const Profiled& one, const Profiled& baseline);

/// Returns whether a case has copies and, by its timeline, all of them are messages between ranks.
[[nodiscard]] bool are_copies_messages(const Profiled& one);

/// Returns the sum of all parts: the time above the ideal.
[[nodiscard]] double total(const Losses& losses);

/// Reports the parts of a case's loss. If other programs or a quota can be the cause, leaves out
/// the parts and ranks below findings that name a cause.
[[nodiscard]] std::optional<Remark> lost_time(const Profiled& one, const ProfiledCases& all);
/// Reports a case that loses time and whose profile does not represent its samples, so that the
/// loss cannot be divided into parts.
[[nodiscard]] std::optional<Remark> breakdown_is_missing(const Profiled& one,
                                                         const ProfiledCases& all);

}  // namespace parbench::report
