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

/// Threads of OpenMP teams that have no work within calls, for at least a tenth of the time.
struct TeamWaiting {
  const CallMetrics* longest = nullptr;  // the operation that waits longest
  double seconds = 0;
  double share = 0;  // of the computing time of all devices
};

[[nodiscard]] std::optional<TeamWaiting> waiting_in_teams(const Profiled& one);
[[nodiscard]] std::optional<Remark> team_waiting(const Profiled& one, const ProfiledCases& all);

/// Threads of a device that wait for cores held by other threads of the same case, for at least a
/// tenth of the time.
struct CoreWait {
  std::string device;
  double share = 0;
};

[[nodiscard]] std::optional<CoreWait> wait_for_own_cores(const CaseResult& one);

/// Threads are ready, but the cores run other threads: of the same case, or of other programs.
[[nodiscard]] std::optional<Remark> more_threads_than_cores(const Profiled& one,
                                                            const ProfiledCases& all);
[[nodiscard]] std::optional<Remark> taken_cores(const CaseResult& one, const Roles& roles);
/// Returns whether other programs can have cost that share of the time of a case or of its
/// baseline.
[[nodiscard]] bool can_be_load(const CaseResult& one, const ProfiledCases& all, double share);
/// Returns whether a case computes on several devices of a run whose devices share cores.
[[nodiscard]] bool shares_cores(const Profiled& one, const ProfiledCases& all);
/// The devices of such a case wait for each other's cores.
[[nodiscard]] std::optional<Remark> shared_cores(const Profiled& one, const ProfiledCases& all);
/// A CPU quota withholds CPU time.
[[nodiscard]] std::optional<Remark> cpu_quota(const CaseResult& one, const Roles& roles);

/// Memory is touched for the first time during an execution.
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

/// Copies run on cores that also compute.
[[nodiscard]] std::optional<Remark> copies_share_cores(const Profiled& one,
                                                       const ProfiledCases& all);

}  // namespace parbench::report
