// `ab`: two commands that run parbench, measured in alternating pairs until their verdicts are
// settled.
#pragma once

#include "bench/exit_code.h"
#include "bench/options.h"

namespace parbench {

/// Runs the pairs and writes what they come to, in `options.export_format` to `options.output_path`
/// or to standard output. After an interrupt, and where a command fails in a later pair, that is
/// what the pairs so far come to. Throws UsageError for a command that leaves no report in the
/// first pair, and for a bad path.
[[nodiscard]] ExitCode run_ab(const Options& options);

}  // namespace parbench
