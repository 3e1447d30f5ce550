// The options of the commands that take some of their own: peaks, show, export, html, compare, ab,
// dashboard.
#pragma once

#include "bench/flags.h"
#include "bench/options.h"

namespace parbench {

/// From what stands behind a command, by the names of its arguments and options ("REPORT",
/// "--format"). Throws UsageError for a value that is not allowed.
[[nodiscard]] Options command_options(Command command, const FlagValues& own);

}  // namespace parbench
