// Rules about host threads: waits within teams, missing cores, page faults, copies.
#include "reports/findings/thread_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

#include "kernels/base/units/units.h"
#include "reports/model/disturbances.h"
#include "reports/statistics/conditions.h"
#include "scenarios/plan/graph.h"
#include "scenarios/plan/role.h"

namespace parbench::report {
namespace {

/// Returns whether a lane computes with fewer than `threads` threads, but at least one.
bool has_smaller_team(const Profiled& one, int threads) {
  const int smallest = smallest_team(one);
  return smallest > 0 && smallest < threads;
}

/// Returns the condition of the device with the largest `member` of ThreadUse; null if no device
/// has readings of threads.
template <typename Member>
const CaseCondition* worst(const CaseResult& one, Member member) {
  const CaseCondition* worst = nullptr;
  for (const CaseCondition& condition : one.conditions) {
    if (!condition.threads) continue;
    if (worst == nullptr ||
        std::invoke(member, *condition.threads) > std::invoke(member, *worst->threads)) {
      worst = &condition;
    }
  }
  return worst;
}

/// Returns the page faults of a device's threads per execution: the mean over the samples that have
/// readings; without any, the rate times the median time.
double faults_of_execution(const CaseResult& one, const CaseCondition& device) {
  double faults = 0;
  int samples = 0;
  for (const Sample& sample : one.samples) {
    const auto found =
        std::ranges::find(sample.conditions, device.device, &SampleCondition::device);
    if (found == sample.conditions.end() || !found->threads) continue;
    faults += found->threads->page_faults * sample.seconds;
    ++samples;
  }
  return samples > 0 ? faults / samples : device.threads->page_faults * one.statistics->median;
}

/// Returns the share of the time for which threads waited for a core that no other program had.
double own_core_wait(const ThreadUse& use) {
  const double denied = use.denied.value_or(0);
  if (denied <= 0) return use.core_wait;
  const double taken = std::clamp(use.others.value_or(0), 0.0, denied);
  return use.core_wait * (1 - taken / denied);
}

/// Returns whether the computing streams of a device have more threads than the device has cores;
/// false without a timeline.
bool has_more_threads_than_cores(const CaseResult& one, const std::string& device) {
  if (!one.profile || !one.profile->timeline) return false;
  int threads = 0;
  int cores = 0;
  for (const Lane& lane : one.profile->timeline->graph.lanes) {
    if (lane.device != device || lane.kind != StreamKind::compute || lane.device_cores == 0) {
      continue;
    }
    threads += lane.threads;
    cores = lane.device_cores;
  }
  return threads > cores;
}

/// Returns whether a case has several computing streams on a device that has a core for each of
/// their threads.
bool has_streams_within_cores(const Profiled& one) {
  if (!one.profile().timeline) return false;
  std::map<std::string, int> streams;
  for (const Lane& lane : one.profile().timeline->graph.lanes) {
    if (lane.kind == StreamKind::compute) ++streams[lane.device];
  }
  return std::ranges::any_of(streams, [&](const auto& device) {
    return device.second > 1 && !has_more_threads_than_cores(one.of(), device.first);
  });
}

/// Returns whether a device with several cores has more computing streams than cores. Counts only
/// the streams on parts of the device if there are any: streams on parts wait while a stream on the
/// whole device runs.
bool has_more_streams_than_cores(const CaseResult& one, const std::string& device) {
  int whole = 0;
  int parts = 0;
  int cores = 0;
  for (const Lane& lane : one.profile->timeline->graph.lanes) {
    if (lane.device != device || lane.kind != StreamKind::compute) continue;
    cores = std::max(cores, lane.device_cores);
    ++(lane.threads < lane.device_cores ? parts : whole);
  }
  return cores > 1 && (parts > 0 ? parts : whole) > cores;
}

/// Returns "; the largest part, 17%, in gemm of fc, which waits for 78% of its time"; empty if
/// every call has a small part of the waiting.
std::string largest_waiting_text(const CallMetrics& longest, double waiting) {
  const std::string part = part_text(longest.team_waiting / waiting);
  if (part.empty()) return {};
  return fmt::format("; {} in {}, which waits for {} of its time", part, to_text(longest),
                     format_percent(longest.team_waiting / longest.seconds, 0));
}

/// Returns "; 2 operations take longer than on one core, most of all gemm of fc (2.76 ms instead of
/// 1.09 ms)"; empty if no operation is slower because of waits, or if the baseline does not compute
/// on one device with one thread per stream.
std::string slower_than_one_thread_text(const Profiled& one, const ProfiledCases& all) {
  const Profiled* baseline = all.baseline_of(one);
  if (baseline == nullptr || team_size(*baseline) != 1 || baseline->computing_devices() != 1) {
    return {};
  }
  constexpr double explained = 0.5;  // min share of waits in an operation's additional time
  const SlowerCalls slower = slower_calls(one, *baseline, explained);
  if (slower.count == 0) return {};
  return fmt::format("; {} than on one core, {}{} ({} instead of {})",
                     slower.count == 1 ? std::string("1 operation takes longer")
                                       : fmt::format("{} operations take longer", slower.count),
                     slower.count == 1 ? "" : "most of all ", to_text(*slower.worst),
                     format_duration(slower.worst_seconds), format_duration(slower.worst_before));
}

}  // namespace

int team_size(const Profiled& one) {
  int threads = 0;
  if (!one.profile().timeline) return threads;
  for (const Lane& lane : one.profile().timeline->graph.lanes) {
    if (lane.kind == StreamKind::compute) threads = std::max(threads, lane.threads);
  }
  return threads;
}

int smallest_team(const Profiled& one) {
  int threads = 0;
  if (!one.profile().timeline) return threads;
  for (const Lane& lane : one.profile().timeline->graph.lanes) {
    if (lane.kind != StreamKind::compute || lane.threads == 0) continue;
    threads = threads == 0 ? lane.threads : std::min(threads, lane.threads);
  }
  return threads;
}

/// Uses waits recorded within calls: waiting threads poll, so the times of calls do not show the
/// waits.
std::optional<TeamWaiting> waiting_in_teams(const Profiled& one) {
  constexpr double min_share = 0.10;
  const CallMetrics* longest = nullptr;
  double waiting = 0;
  for (const CallMetrics& call : one.metrics().calls) {
    if (call.kind != TaskKind::compute) continue;
    waiting += call.team_waiting;
    if (longest == nullptr || call.team_waiting > longest->team_waiting) longest = &call;
  }
  if (waiting <= 0) return {};
  const double share = waiting / one.compute_seconds() * one.computing_share();
  if (share < min_share) return {};
  return TeamWaiting{longest, waiting, share};
}

std::optional<Remark> team_waiting(const Profiled& one, const ProfiledCases& all) {
  const auto found = waiting_in_teams(one);
  if (!found) return {};
  const bool has_smaller_teams = std::ranges::any_of(
      all.all(), [&](const Profiled& other) { return has_smaller_team(other, team_size(one)); });
  return Remark{
      fmt::format("within calls, a core had no work for {} of the time: threads of OpenMP teams "
                  "waited for each other, at barriers or where a parallel region starts or "
                  "ends{}{}",
                  format_percent(found->share, 0),
                  largest_waiting_text(*found->longest, found->seconds),
                  slower_than_one_thread_text(one, all)),
      has_smaller_teams || !all.are_complete() ? "" : "streams or devices with fewer cores",
      {{"share", found->share},
       {"operation", found->longest->name},
       {"layer", found->longest->layer}},
      found->share};
}

std::optional<CoreWait> wait_for_own_cores(const CaseResult& one) {
  constexpr double min_share = 0.10;
  const CaseCondition* device = worst(one, own_core_wait);
  if (device == nullptr || own_core_wait(*device->threads) < min_share) return {};
  // Time that a quota withholds also counts as waiting.
  if (one.quota_lost >= min_cores_taken) return {};
  if (!has_more_threads_than_cores(one, device->device)) return {};
  return CoreWait{device->device, own_core_wait(*device->threads)};
}

std::optional<Remark> more_threads_than_cores(const Profiled& one, const ProfiledCases& all) {
  const auto wait = wait_for_own_cores(one.of());
  if (!wait) return {};
  const auto& [device, share] = *wait;
  const bool is_advised = has_more_streams_than_cores(one.of(), device) &&
                          std::ranges::none_of(all.all(), has_streams_within_cores);
  return Remark{fmt::format("threads of {} were ready to run for {} of the time, but others of the "
                            "same case had the core",
                            device, format_percent(share, 0)),
                is_advised ? "no more streams than cores" : "",
                {{"device", device}, {"share", share}},
                share};
}

std::optional<Remark> taken_cores(const CaseResult& one, const Roles& roles) {
  if (!are_cores_taken(one)) return {};
  const double share = cores_taken(one);
  return Remark{fmt::format("for {} of the time, other programs had a core that its threads needed",
                            format_percent(share, 0)),
                roles.leaves_cores()
                    ? "stop other programs on these cores, or choose free cores with taskset"
                    : "stop other programs on these cores",
                {{"share", share}},
                share};
}

bool can_be_load(const CaseResult& one, const ProfiledCases& all, double share) {
  if (is_disturbed(one) || load_cost(one) >= share) return true;
  const Profiled* baseline = one.speedup ? all.find(one.speedup->baseline) : nullptr;
  return baseline != nullptr && load_cost(baseline->of()) >= share;
}

bool shares_cores(const Profiled& one, const ProfiledCases& all) {
  return all.cores().are_shared() && one.computing_devices() > 1;
}

std::optional<Remark> shared_cores(const Profiled& one, const ProfiledCases& all) {
  if (!shares_cores(one, all)) return {};
  const CaseCondition* device = worst(one.of(), &ThreadUse::core_wait);
  const double share = device == nullptr ? 0 : device->threads->core_wait;
  const auto cores = static_cast<std::int64_t>(all.cores().different);
  return Remark{
      fmt::format("its devices share {}{}: that makes calls slow, exchanges long and devices idle",
                  format_count(all.cores().different, "core"),
                  share > 0 ? fmt::format(", for which threads of {} waited for {} of the time",
                                          device->device, format_percent(share, 0))
                            : ""),
      "no more devices than cores",
      {{"cores", cores}, {"share", share}},
      share};
}

std::optional<Remark> cpu_quota(const CaseResult& one, const Roles& /*roles*/) {
  if (!is_over_quota(one)) return {};
  return Remark{fmt::format("a CPU quota withheld {} of the CPU time that it needed",
                            format_percent(one.quota_lost, 0)),
                "no quota, or a larger one (docker run --cpus, CPUQuota= of systemd)",
                {{"share", one.quota_lost}},
                one.quota_lost};
}

std::optional<Remark> page_faults(const CaseResult& one, const Roles& roles) {
  // Page faults per second. One takes more than 0.1 µs, so this rate costs at least 1% of a core.
  constexpr double many_page_faults = 1e5;
  constexpr double page_fault_share = 0.05;  // min share of the time in the kernel
  const CaseCondition* device = worst(one, &ThreadUse::page_faults);
  if (device == nullptr || device->threads->page_faults < many_page_faults) return {};
  if (device->threads->kernel < page_fault_share) return {};
  const std::string advice = roles.advice(one, Role::host_memory);
  return Remark{
      fmt::format("{:.0f} page faults in each execution: memory is touched for the first time "
                  "within it, and threads of {} spend {} of the time in the kernel",
                  faults_of_execution(one, *device), device->device,
                  format_percent(device->threads->kernel, 0)),
      advice.empty() ? "memory that was touched before"
                     : roles.untried_advice(one, Role::host_memory),
      {{"device", device->device},
       {"page faults per second", device->threads->page_faults},
       {"share in the kernel", device->threads->kernel}},
      device->threads->kernel};
}

namespace {

// min share of the time in which a device computes and copies on the same cores
constexpr double shared_copy_share = 0.10;

/// Returns the max over the devices of the share of the time in which computing and transfers
/// overlap.
double largest_overlap(const Profiled& one) {
  double overlapped = 0;
  for (const DeviceMetrics& device : one.metrics().devices) {
    overlapped = std::max(overlapped, device.overlapped);
  }
  return one.metrics().span > 0 ? overlapped / one.metrics().span : 0;
}

/// Returns whether a case of the same strategy, number format and baseline does not compute faster
/// although its copies hardly overlap with computing: then calls are slow for another reason, such
/// as small products.
bool is_slow_without_copies(const Profiled& one, const ProfiledCases& all) {
  return std::ranges::any_of(all.all(), [&](const Profiled& other) {
    return other.of().strategy == one.of().strategy && other.of().dtype == one.of().dtype &&
           all.baseline_of(other) == all.baseline_of(one) &&
           largest_overlap(other) < shared_copy_share && other.compute_rate() > 0 &&
           other.compute_rate() <= one.compute_rate();
  });
}

}  // namespace

/// Copies and messages need a device's cores if no other core is left for them. Overlap alone is
/// not a loss: a message that waits for a slow link uses no core.
std::optional<SlowedByCopies> slowed_by_copies(const Profiled& one, const ProfiledCases& all) {
  constexpr double slowed_calls = 0.05;  // min loss of computing rate
  const Profiled* base = all.baseline_of(one);
  if (base == nullptr || !one.profile().timeline || one.metrics().span <= 0) return {};
  const std::vector<Lane>& lanes = one.profile().timeline->graph.lanes;
  const DeviceMetrics* worst = nullptr;
  for (const DeviceMetrics& device : one.metrics().devices) {
    const auto shares = [&](const Lane& lane) {
      return lane.device == device.device && lane.kind == StreamKind::copy && lane.device_cores > 0;
    };
    if (std::ranges::none_of(lanes, shares)) continue;
    if (worst == nullptr || device.overlapped > worst->overlapped) worst = &device;
  }
  const double rate = one.compute_rate();
  const double alone = base->compute_rate();
  if (worst == nullptr || rate <= 0 || rate > (1 - slowed_calls) * alone) return {};
  const double share = worst->overlapped / one.metrics().span;
  if (share < shared_copy_share || is_slow_without_copies(one, all)) return {};
  return SlowedByCopies{worst->device, share, 1 - rate / alone};
}

std::optional<Remark> copies_share_cores(const Profiled& one, const ProfiledCases& all) {
  const auto found = slowed_by_copies(one, all);
  if (!found) return {};
  const auto& [device, share, slower] = *found;
  return Remark{
      fmt::format("{} copies or communicates for {} of the time while it computes, on the same "
                  "cores, and the case computes {} slower than its baseline",
                  device, format_percent(share, 0), format_percent(slower, 0)),
      all.have_all_cores() ? "" : "more cores for the process, so that one is left for copies",
      {{"share", share}, {"slower", slower}},
      slower * one.computing_share()};
}

}  // namespace parbench::report
