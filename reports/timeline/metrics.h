// What a timeline says in numbers, all of them whole nanoseconds. Busy, idle and overlapped times
// are exact: unions and intersections of the intervals in which calls ran. Waits and the critical
// path say why: they are exact sums too, but of causes that are taken from the plan and from when
// the host enqueued, the one that ended last each time.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/timeline/timeline.h"

namespace parbench::timeline {

/// Time in which nothing runs before a call, by what the call waited for last: first for other
/// tasks, then for the host, then for neither.
struct Gaps {
  Nanoseconds dependency = 0;  // a task that it waits for had not ended
  Nanoseconds host = 0;        // those had, and the host had not enqueued it
  Nanoseconds queue = 0;       // it could have run: wake-ups, launch latency, other users

  [[nodiscard]] Nanoseconds total() const { return dependency + host + queue; }
  Gaps& operator+=(const Gaps& other);
};

/// Of one device, over all of its lanes.
struct DeviceMetrics {
  std::string device;
  Nanoseconds busy = 0;    // at least one call runs
  Nanoseconds idle = 0;    // none does, from the beginning to the end of the timeline
  Nanoseconds bubble = 0;  // of idle, what lies between the device's first and last call
  Gaps waits;              // of idle, what precedes a call; the rest follows the last one
  std::array<Nanoseconds, 3> of_kind{};   // at least one call of the kind runs, by Kind
  Nanoseconds exposed_copy = 0;           // a copy runs, and no computation on this device
  Nanoseconds exposed_communication = 0;  // the same of communication
  Nanoseconds overlapped = 0;             // a copy or communication runs, and a computation as well

  [[nodiscard]] Nanoseconds time_of(Kind kind) const {
    return of_kind[static_cast<std::size_t>(kind)];
  }
};

/// The chain of causes that ends with the last call, back to the beginning: each call waited last
/// for the end of another, or for the host.
struct CriticalPath {
  std::array<Nanoseconds, 3> of_kind{};  // calls on it, by Kind
  Nanoseconds host = 0;                  // the host was enqueueing what came next on it
  Nanoseconds queue = 0;                 // nothing that the timeline shows was waited for
  std::vector<std::size_t> calls;        // in their order

  [[nodiscard]] Nanoseconds total() const;
};

struct Metrics {
  Nanoseconds span = 0;                // from the timeline's beginning to the end of the last call
  std::vector<DeviceMetrics> devices;  // in the order of their first lanes
  std::vector<Nanoseconds> streams_busy;  // [k]: for how long exactly k lanes were busy
  std::vector<Gaps> gaps;                 // of each lane, before its calls
  CriticalPath critical_path;

  /// Idle time of all devices over the whole time of all devices: (p − 1)/(m + p − 1) of an ideal
  /// pipeline of p stages and m chunks.
  [[nodiscard]] double bubble_ratio_of_total() const;
  /// The same over the time in which devices were busy: (p − 1)/m.
  [[nodiscard]] double bubble_ratio_of_busy() const;
};

[[nodiscard]] Metrics metrics_of(const Timeline& timeline);

}  // namespace parbench::timeline
