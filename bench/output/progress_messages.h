// Progress of a process as messages to the one that started it, which shows it as its own.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>

#include "bench/execution/clock.h"
#include "bench/output/progress.h"

namespace parbench {

/// Writes notes, and a state ten times a second at most, as lines of JSON: who reads them shares
/// the machine with what is measured. `now`: seconds, monotonic.
[[nodiscard]] std::unique_ptr<Progress> make_progress_messages(
    std::ostream& out, std::function<double()> now = steady_seconds);

/// Hands such a line on to `progress` as that of one of several processes. A line of anything else
/// is a note.
void relay_progress(std::string_view line, RunPart process, Progress& progress);

}  // namespace parbench
