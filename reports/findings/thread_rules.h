// Rules about the host threads that execute a device's streams, and the cores they run on.
#pragma once

#include <optional>
#include <string>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Return the largest and the smallest number of threads of a lane that computes; 0 without a
/// timeline.
[[nodiscard]] int team_size(const Profiled& one);
[[nodiscard]] int smallest_team(const Profiled& one);

/// The time within calls in which threads of OpenMP teams have no work; at least a tenth of the
/// whole time.
struct TeamWaiting {
  const CallMetrics* longest = nullptr;  // the operation that waits longest
  double seconds = 0;
  double share = 0;  // share of the computing devices' time
};

[[nodiscard]] std::optional<TeamWaiting> waiting_in_teams(const Profiled& one);
[[nodiscard]] std::optional<Remark> team_waiting(const Profiled& one, const ProfiledCases& all);

/// The time in which a device's threads wait for cores held by other threads of the same case; at
/// least a tenth of the whole time.
struct CoreWait {
  std::string device;
  double share = 0;
};

[[nodiscard]] std::optional<CoreWait> wait_for_own_cores(const CaseResult& one);

/// Apply if threads are ready, but the cores run other threads of the same case
/// (`more_threads_than_cores`) or of other programs (`taken_cores`).
[[nodiscard]] std::optional<Remark> more_threads_than_cores(const Profiled& one,
                                                            const ProfiledCases& all);
[[nodiscard]] std::optional<Remark> taken_cores(const CaseResult& one, const Roles& roles);
/// Returns whether other programs can have cost the given share of the time of a case or of its
/// baseline, or the case `is_disturbed`.
[[nodiscard]] bool can_be_load(const CaseResult& one, const ProfiledCases& all, double share);
/// Returns whether a case computes on several devices of a run whose devices share cores.
[[nodiscard]] bool shares_cores(const Profiled& one, const ProfiledCases& all);
/// Applies if `shares_cores`; gives the longest waits for cores.
[[nodiscard]] std::optional<Remark> shared_cores(const Profiled& one, const ProfiledCases& all);
/// Applies if a CPU quota withholds CPU time.
[[nodiscard]] std::optional<Remark> cpu_quota(const CaseResult& one, const Roles& roles);

/// Applies if executions touch much memory for the first time.
[[nodiscard]] std::optional<Remark> page_faults(const CaseResult& one, const Roles& roles);

/// Copies or messages on the cores of a device while it computes, if the case computes slower than
/// its baseline and than all cases without such copies.
struct SlowedByCopies {
  std::string device;
  double share = 0;   // share of the time in which it copies and computes at once
  double slower = 0;  // loss of computing rate
};

[[nodiscard]] std::optional<SlowedByCopies> slowed_by_copies(const Profiled& one,
                                                             const ProfiledCases& all);

/// Applies if `slowed_by_copies`.
[[nodiscard]] std::optional<Remark> copies_share_cores(const Profiled& one,
                                                       const ProfiledCases& all);

}  // namespace parbench::report
