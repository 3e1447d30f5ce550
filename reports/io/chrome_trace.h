// Timelines as a trace in the Chrome trace event format, which Perfetto and chrome://tracing open.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/plan/timeline.h"

namespace parbench::report {

/// One case of a trace.
struct TracedCase {
  std::string name;
  const Timeline* timeline = nullptr;
  std::vector<std::pair<std::string, std::size_t>> memory;  // bytes that each device holds
};

/// Every case begins at 0, so that two stand one under the other on one time axis. A process is a
/// device of a case, or the host; a thread is a stream, or a thread that enqueues. Slices nest: a
/// task holds its calls. Arrows lead from enqueueing to running and from a task to those of other
/// lanes that wait for it; counters show how many lanes were busy with tasks, and memory.
void write_chrome_trace(std::ostream& out, std::span<const TracedCase> cases);

}  // namespace parbench::report
