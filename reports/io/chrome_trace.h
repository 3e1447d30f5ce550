// Writes timelines in the Chrome trace event format, for Perfetto and chrome://tracing.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench::report {

struct TracedCase {
  std::string name;
  const Timeline* timeline = nullptr;
  std::vector<std::pair<std::string, std::size_t>> memory;  // bytes held on each device
};

/// Writes cases that all begin at 0, so that they share a time axis. A process is a device of a
/// case, or the host; a thread is a stream, or a host thread that enqueues. Slices are nested: a
/// task contains its calls. Arrows lead from enqueueing to running, and from a task to tasks of
/// other lanes that wait for it. Counters show the number of lanes busy with tasks, and memory.
void write_chrome_trace(std::ostream& out, std::span<const TracedCase> cases);

}  // namespace parbench::report
