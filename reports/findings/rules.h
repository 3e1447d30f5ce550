// The rules by which a scenario's cases become findings. Each takes one case, most of them its
// profile beside that of its baseline or its relatives, and speaks only when its evidence is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reports/findings/profiled.h"
#include "reports/findings/roles.h"

namespace parbench::report {

/// What a rule says of one case.
struct Remark {
  std::string text;
  std::string advice;
  NamedValues evidence;
  /// Of the case's time that it explains, or of the baseline's that is gained; 0 for what costs no
  /// time. Findings are ordered by it.
  double share = 0;
  double weight = 0;  // orders remarks of one rule whose shares are equal
};

/// A rule for profiled cases.
using ProfileRule = std::optional<Remark> (*)(const Profiled& one, const ProfiledCases& all);
/// A rule for any case with a number, that needs only its samples and its memory.
using CaseRule = std::optional<Remark> (*)(const CaseResult& one, const Roles& roles);

struct Rule {
  std::string_view name;
  std::variant<ProfileRule, CaseRule> find;
  /// Whether devices that share cores cause it, too, whatever the case does.
  bool has_cause_in_sharing = false;
  /// Whether other programs on the cores cause it, too.
  bool has_cause_in_load = false;
  /// Whether a profile rule holds for executions that do not represent the samples.
  bool holds_for_any_execution = false;
  /// Whether it is about calls and not about the division of work: it begins with the recommended
  /// case, also where that divides nothing.
  bool begins_with_recommended = false;
};

/// In the order in which findings of equal shares are listed.
[[nodiscard]] const std::vector<Rule>& all_rules();

// From so much on, evidence counts. Public so that docs and tests name the same numbers.
constexpr double launch_bound_share = 0.10;  // of the devices' time: host and queue waits
constexpr double unbalanced_excess = 0.10;   // of computing, the busiest device over the mean
constexpr double costly_imbalance = 0.10;    // of the devices' time, in which they wait for one
constexpr double noteworthy_memory = 0.01;   // of a device's memory, held by a case
constexpr double inefficient_micro_batches = 0.10;  // of the rate of computing that is lost
constexpr double bubble_bound_share = 0.10;         // of the devices' time: waiting for others
constexpr double slowed_together = 0.10;     // by which calls take longer beside other devices
constexpr double more_concurrency = 1.25;    // over the baseline's: then streams did run at once
constexpr double no_gain = 1.05;             // a speedup of less is none to speak of
constexpr double slowed_by_sharing = 1.25;   // by which calls on one device take longer at once
constexpr double held_span_share = 0.10;     // of the span, in which copies held the host
constexpr double reference_share = 0.01;     // of computing, on reference kernels
constexpr double general_loop_share = 0.10;  // of computing, by one operation on general loops
constexpr double general_loop_rate = 0.10;   // of the rate of all operations, at most
constexpr double team_waiting_share = 0.10;  // of the time: threads without work within calls
constexpr double no_core_share = 0.10;       // of the time: others of the case had the core
constexpr double exposed_share = 0.05;       // of the time: communication and no computation
constexpr double bucket_share = 0.05;        // of the time: starting exchanges, or the last of them
constexpr double inefficient_parts = 0.10;   // of the rate of computing that is lost by dividing
constexpr double waiting_share = 0.10;       // of the time: devices that wait for another one
constexpr double slowest_rank_share = 0.05;  // of the time: waits of all ranks but one
constexpr double shared_copy_share = 0.10;   // of the time: copies on cores that compute meanwhile
constexpr double slowed_calls = 0.05;        // of the rate of computing: beside such copies
constexpr double page_fault_share = 0.05;    // of the time: in the kernel
/// Per second. One takes more than a tenth of a microsecond, so these take a hundredth of a core.
constexpr double many_page_faults = 1e5;
constexpr double min_part = 0.02;           // of the span: a loss that is shown by name
constexpr double held_host_share = 0.5;     // of a copy's time: then it was not asynchronous
constexpr double min_held_seconds = 20e-6;  // by a copy: enqueueing alone takes a few microseconds
constexpr double min_copied_bytes = 65536;  // by a copy: CUDA holds no caller for less
constexpr double uneven_memory_ratio = 2;   // between two devices
constexpr double computing_at_once = 1.1;   // streams busy on average while any is
constexpr double min_reported_losses = 0.05;  // of the span

}  // namespace parbench::report
