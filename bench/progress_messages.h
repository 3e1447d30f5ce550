// Progress of a process as messages to the one that started it, which shows it as its own.
#pragma once

#include <iosfwd>
#include <memory>
#include <string_view>

#include "bench/progress.h"

namespace parbench {

/// Writes every state and note as a line of JSON.
[[nodiscard]] std::unique_ptr<Progress> make_progress_messages(std::ostream& out);

/// Hands such a line on to `progress` as that of one of several launches. A line of anything else
/// is a note.
void relay_progress(std::string_view line, RunPart launch, Progress& progress);

}  // namespace parbench
