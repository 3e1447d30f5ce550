// Where the time of several devices goes.
#pragma once

#include <optional>

#include "reports/findings/profiled.h"
#include "reports/findings/rules.h"

namespace parbench::report {

/// Returns the losses on p > 1 devices beside a baseline on one. With T the span, S the speedup of
/// the samples and B = T·S/p the baseline's time divided among the devices, T − B is divided into
/// (mean time of computing − that of B) + (copies while nothing computes − those of B) + (launch
/// waits − idle time of B) + other idle time; the last is imbalance as far as the busiest device
/// computes longer than the mean. The parts of B are those of the baseline's profile, so that each
/// of the two recorded executions gives shares and the samples how long they take. Nothing where
/// there is no such baseline. Requires the speedup.
[[nodiscard]] std::optional<Losses> losses_of(const Profiled& one, const Profiled& baseline);

/// Returns whether a case has copies and all of them are messages between ranks, by its timeline.
[[nodiscard]] bool are_copies_messages(const Profiled& one);

/// Returns the sum of all parts: the time above the ideal.
[[nodiscard]] double total(const Losses& losses);

/// The parts of what a case loses; without them, and below what names a cause, where other programs
/// can be the cause.
[[nodiscard]] std::optional<Remark> lost_time(const Profiled& one, const ProfiledCases& all);
/// A case that loses time and whose recorded execution does not show where.
[[nodiscard]] std::optional<Remark> breakdown_is_missing(const Profiled& one,
                                                         const ProfiledCases& all);

}  // namespace parbench::report
