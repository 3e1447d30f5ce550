// Progress messages from a process to the process that started it, which displays them.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>

#include "bench/execution/clock.h"
#include "bench/output/progress.h"

namespace parbench {

/// Makes a Progress that writes lines of JSON: every note, and a state at most ten times per
/// second. The rate is limited because the reader shares the machine with the measurement. `now`:
/// seconds, monotonic.
[[nodiscard]] std::unique_ptr<Progress> make_progress_messages(
    std::ostream& out, std::function<double()> now = steady_seconds);

/// Passes a line of another process, `process.index` of `process.count`, to `progress`. A line that
/// is not JSON of this format becomes a note.
void relay_progress(std::string_view line, RunPart process, Progress& progress);

}  // namespace parbench
