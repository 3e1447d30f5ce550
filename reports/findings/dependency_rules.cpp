// Who waited for whom, from the timeline of a profile.
#include "reports/findings/dependency_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/plan/role.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {
namespace {

/// One pause of a device that another device ended.
struct DevicePause {
  std::string waiting;
  std::string awaited;
  TaskId task = 0;   // that could not begin
  TaskId cause = 0;  // that it waited for last
  Nanoseconds length = 0;
};

/// All pauses of a device with another.
struct DeviceWait {
  Nanoseconds total = 0;
  DevicePause longest;
};

using DeviceWaits = std::map<std::pair<std::string, std::string>, DeviceWait>;

/// When each task ended on the last of its lanes, and on which device.
struct TaskEnd {
  Nanoseconds time = 0;
  std::string device;
};

std::vector<TaskEnd> ends_of(const Timeline& timeline) {
  std::vector<TaskEnd> ends(timeline.graph.tasks.size());
  for (const TimedCall& call : timeline.calls) {
    TaskEnd& end = ends.at(static_cast<std::size_t>(call.task));
    if (call.ran.end >= end.time) {
      end = {.time = call.ran.end, .device = timeline.graph.lane(call.lane).device};
    }
  }
  return ends;
}

/// The task that ended last of those that a call waits for; null without any.
const TaskId* last_cause(const Timeline& timeline, const std::vector<TaskEnd>& ends, TaskId task) {
  const TaskId* last = nullptr;
  for (const TaskId& before : timeline.graph.task(task).after) {
    const auto end = [&](TaskId id) { return ends[static_cast<std::size_t>(id)].time; };
    if (last == nullptr || end(before) > end(*last)) last = &before;
  }
  return last;
}

/// Adds the pauses of a device: nothing runs there, and the next call waits for another device.
void add_pauses(const Timeline& timeline, const std::vector<TaskEnd>& ends,
                const std::string& device, DeviceWaits& waits) {
  Nanoseconds busy_until = timeline.begin;
  for (const TimedCall& call : timeline.calls) {  // by their beginning
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

std::optional<Remark> waits_for_device(const Profiled& one, const ProfiledCases& all) {
  if (!one.profile().timeline || one.concurrency() < computing_at_once) return {};
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
                 {"longest ahead of", timeline.graph.task(pause.task).name}},
                share / static_cast<double>(std::max(1, one.computing_devices()))};
}

}  // namespace parbench::report
