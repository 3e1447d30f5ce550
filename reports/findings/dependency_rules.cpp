// Analyses the timeline of a profile: which device waits for which, and whether one device alone
// does work that all devices need.
#include "reports/findings/dependency_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/plan/role.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {
namespace {

constexpr double waiting_share = 0.10;  // min share of the time in which devices wait for another

/// A pause of a device that ended when another device finished a task.
struct DevicePause {
  std::string waiting;
  std::string awaited;
  TaskId task = 0;   // the task that could not begin
  TaskId cause = 0;  // the dependency of `task` that ended last
  Nanoseconds length = 0;
};

/// All pauses of a device because of one other device.
struct DeviceWait {
  Nanoseconds total = 0;
  DevicePause longest;
};

using DeviceWaits = std::map<std::pair<std::string, std::string>, DeviceWait>;

/// Returns the dependency of a task that ended last; null without dependencies.
const TaskId* last_cause(const Timeline& timeline, const std::vector<TaskEnd>& ends, TaskId task) {
  const TaskId* last = nullptr;
  for (const TaskId& before : timeline.graph.task(task).after) {
    const auto end = [&](TaskId id) { return ends[static_cast<std::size_t>(id)].time; };
    if (last == nullptr || end(before) > end(*last)) last = &before;
  }
  return last;
}

/// Adds the pauses of a device: times in which nothing runs on it and its next call waits for
/// another device.
void add_pauses(const Timeline& timeline, const std::vector<TaskEnd>& ends,
                const std::string& device, DeviceWaits& waits) {
  Nanoseconds busy_until = timeline.begin;
  for (const TimedCall& call : timeline.calls) {  // sorted by begin
    if (timeline.graph.lane(call.lane).device != device) continue;
    const TaskId* cause = last_cause(timeline, ends, call.task);
    if (call.ran.begin > busy_until && cause != nullptr) {
      const TaskEnd& end = ends[static_cast<std::size_t>(*cause)];
      const Nanoseconds length = std::min(end.time, call.ran.begin) - busy_until;
      if (end.device != device && length > 0) {
        DeviceWait& wait = waits[{device, end.device}];
        wait.total += length;
        if (length > wait.longest.length) {
          wait.longest = {device, end.device, call.task, *cause, length};
        }
      }
    }
    busy_until = std::max(busy_until, call.ran.end);
  }
}

}  // namespace

std::optional<BusiestDevice> busiest_device(const Profiled& one) {
  const int devices = one.computing_devices();
  if (devices < 2 || !one.runs_at_once()) return {};
  constexpr double unbalanced_excess = 0.10;  // min excess of the busiest device over the mean
  const DeviceMetrics* busiest = nullptr;
  double mean = 0;
  for (const DeviceMetrics& device : one.metrics().devices) {
    if (device.compute <= 0) continue;
    mean += device.compute / devices;
    if (busiest == nullptr || device.compute > busiest->compute) busiest = &device;
  }
  const double excess = busiest->compute / mean - 1;
  if (excess < unbalanced_excess) return {};
  return BusiestDevice{busiest->device, excess, mean};
}

std::optional<Remark> waits_for_device(const Profiled& one, const ProfiledCases& all) {
  if (!one.profile().timeline || !one.runs_at_once()) return {};
  for (const Role role : {Role::micro_batch_size, Role::partition}) {
    if (all.roles().value(one.of(), role) != nullptr) return {};
  }
  const auto communicates = [](const DeviceMetrics& device) { return device.communication > 0; };
  if (std::ranges::any_of(one.metrics().devices, communicates)) return {};
  const Timeline& timeline = *one.profile().timeline;
  const std::vector<TaskEnd> ends = ends_of(timeline);
  DeviceWaits waits;
  for (const std::string& device : timeline.graph.devices()) {
    add_pauses(timeline, ends, device, waits);
  }
  const auto longest =
      std::ranges::max_element(waits, {}, [](const auto& wait) { return wait.second.total; });
  if (longest == waits.end() || timeline.length() <= 0) return {};
  const auto& [total, pause] = longest->second;
  const double seconds = seconds_of(total);
  const double share = seconds / seconds_of(timeline.length());
  if (share < waiting_share) return {};
  const double pause_seconds = seconds_of(pause.length);
  return Remark{fmt::format("{} waits for {} for {} of the time, longest for '{}' ({})",
                            pause.waiting, pause.awaited, format_percent(share, 0),
                            timeline.graph.task(pause.cause).name, format_duration(pause_seconds)),
                "another order, or another division of the work",
                {{"waiting device", pause.waiting},
                 {"device waited for", pause.awaited},
                 {"seconds", seconds},
                 {"longest seconds", pause_seconds},
                 {"longest for", timeline.graph.task(pause.cause).name},
                 {"longest before", timeline.graph.task(pause.task).name}},
                share / static_cast<double>(std::max(1, one.computing_devices()))};
}

namespace {

const std::string& device_of(const Timeline& timeline, const TimedCall& call) {
  return timeline.graph.lane(call.lane).device;
}

/// Returns the devices with calls of a phase of the training step.
std::set<std::string> devices_with(const Timeline& timeline, std::string_view phase) {
  std::set<std::string> devices;
  for (const TimedCall& call : timeline.calls) {
    if (timeline.graph.task(call.task).phase == phase) devices.insert(device_of(timeline, call));
  }
  return devices;
}

/// Returns the only device that updates parameters, if several devices compute their gradients;
/// else empty.
std::string updating_alone(const Profiled& one) {
  if (!one.profile().timeline) return {};
  const Timeline& timeline = *one.profile().timeline;
  const std::set<std::string> updating = devices_with(timeline, "update");
  const bool are_several = devices_with(timeline, "backward").size() > 1;
  return are_several && updating.size() == 1 ? *updating.begin() : std::string();
}

/// Returns the time in which a device does other work than forward and backward passes while no
/// other device runs anything.
Nanoseconds time_alone(const Timeline& timeline, const std::string& device) {
  struct Running {
    int central = 0;
    int other = 0;
  };
  std::map<Nanoseconds, Running> changes;
  for (const TimedCall& call : timeline.calls) {
    const std::string& phase = timeline.graph.task(call.task).phase;
    const bool is_other = device_of(timeline, call) != device;
    if (!is_other && (phase == "forward" || phase == "backward")) continue;
    int Running::*const count = is_other ? &Running::other : &Running::central;
    ++(changes[call.ran.begin].*count);
    --(changes[call.ran.end].*count);
  }
  Nanoseconds alone = 0;
  Nanoseconds since = 0;
  Running now;
  for (const auto& [time, change] : changes) {
    if (now.central > 0 && now.other == 0) alone += time - since;
    now.central += change.central;
    now.other += change.other;
    since = time;
  }
  return alone;
}

/// Returns the fraction by which a device's busy time exceeds the mean of the other busy devices:
/// 0.2 for a fifth.
double excess_of(const Profiled& one, const std::string& device) {
  double own = 0;
  double others = 0;
  int count = 0;
  for (const DeviceMetrics& each : one.metrics().devices) {
    if (each.device == device) {
      own = each.busy;
    } else if (each.busy > 0) {
      others += each.busy;
      ++count;
    }
  }
  return count > 0 ? own * count / others - 1 : 0;
}

/// Returns whether two cases differ in the strategy, and otherwise at most in parameters that just
/// one of them has.
bool differ_in_strategy(const CaseResult& one, const CaseResult& other) {
  return one.strategy != other.strategy && one.graph == other.graph && one.dtype == other.dtype &&
         std::ranges::all_of(one.parameters, [&](const auto& parameter) {
           const Value* same = find_value(other.parameters, parameter.first);
           return same == nullptr || *same == parameter.second;
         });
}

/// Returns the flag for the fastest measured strategy in which all devices update, if it is faster;
/// else empty. If no such strategy was measured, describes it.
std::string advised_strategy(const Profiled& one, const ProfiledCases& all) {
  const CaseResult* fastest = nullptr;
  for (const Profiled& other : all.all()) {
    if (!differ_in_strategy(one.of(), other.of()) || !other.profile().timeline) continue;
    if (other.computing_devices() != one.computing_devices()) continue;
    if (!updating_alone(other).empty()) continue;
    if (fastest == nullptr || other.of().statistics->median < fastest->statistics->median) {
      fastest = &other.of();
    }
  }
  if (fastest == nullptr) return "a strategy in which every device updates parameters of its own";
  if (fastest->statistics->median >= one.of().statistics->median) return {};
  return fmt::format("--strategy {}, in which all devices update", fastest->strategy);
}

/// Returns `time_alone` as a share of the whole time.
double share_alone(const Timeline& timeline, const std::string& device) {
  if (timeline.length() <= 0) return 0;
  return seconds_of(time_alone(timeline, device)) / seconds_of(timeline.length());
}

}  // namespace

bool has_central_device(const Profiled& one) {
  const std::string device = updating_alone(one);
  return !device.empty() && share_alone(*one.profile().timeline, device) >= waiting_share;
}

std::optional<Remark> central_device(const Profiled& one, const ProfiledCases& all) {
  if (!has_central_device(one)) return {};
  const std::string device = updating_alone(one);
  const double alone = seconds_of(time_alone(*one.profile().timeline, device));
  const double share = share_alone(*one.profile().timeline, device);
  const double excess = excess_of(one, device);
  const bool is_pair = one.metrics().devices.size() == 2;
  const auto& devices = one.metrics().devices;
  const std::string other =
      devices.front().device == device ? devices.back().device : devices.front().device;
  std::string text =
      fmt::format("{} alone adds gradients, updates and sends for {} of the time, while {} idle",
                  device, format_percent(share, 0), is_pair ? other + " is" : "the others are");
  if (excess > 0) {
    text += fmt::format("; {} works {} longer than {}", device, format_percent(excess, 0),
                        is_pair ? other : "their mean");
  }
  return Remark{std::move(text),
                advised_strategy(one, all),
                {{"device", device}, {"seconds alone", alone}, {"excess", excess}},
                share};
}

}  // namespace parbench::report
