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

/// The time within calls in which threads of OpenMP teams have no work. `share` is at least 0.1.
struct TeamWaiting {
  const CallMetrics* longest = nullptr;  // the operation that waits longest
  double seconds = 0;
  double share = 0;  // share of the computing devices' time
};

[[nodiscard]] std::optional<TeamWaiting> waiting_in_teams(const Profiled& one);
[[nodiscard]] std::optional<Remark> team_waiting(const Profiled& one, const ProfiledCases& all);

/// The time in which a device's threads wait for cores held by other threads of the same case, on a
/// device with more threads than cores. `share` of the time is at least 0.1.
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
/// Returns whether load can explain a loss: the case `is_disturbed`, or other programs can have
/// cost `share` of its time or of its baseline's.
[[nodiscard]] bool can_be_load(const CaseResult& one, const ProfiledCases& all, double share);
/// Returns whether a case computes on several devices of a run whose devices share cores.
[[nodiscard]] bool shares_cores(const Profiled& one, const ProfiledCases& all);
/// Applies if `shares_cores`; names the device whose threads wait longest for cores.
[[nodiscard]] std::optional<Remark> shared_cores(const Profiled& one, const ProfiledCases& all);
/// Applies if a CPU quota withheld enough CPU time for a warning (`is_over_quota`).
[[nodiscard]] std::optional<Remark> cpu_quota(const CaseResult& one, const Roles& roles);

/// Applies if threads of a device have at least 100,000 page faults per second and spend at least
/// 5% of the time in the kernel: executions touch memory for the first time.
[[nodiscard]] std::optional<Remark> page_faults(const CaseResult& one, const Roles& roles);

/// Copies or messages on the cores of a device while it computes, if the case computes slower than
/// its baseline and than cases of the same strategy without such copies.
struct SlowedByCopies {
  std::string device;
  double share = 0;   // share of the time in which the device copies and computes at once
  double slower = 0;  // loss of computing rate
};

[[nodiscard]] std::optional<SlowedByCopies> slowed_by_copies(const Profiled& one,
                                                             const ProfiledCases& all);

/// Applies if `slowed_by_copies`.
[[nodiscard]] std::optional<Remark> copies_share_cores(const Profiled& one,
                                                       const ProfiledCases& all);

}  // namespace parbench::report
