// The command `peaks`: measures what the cache does not have, shows what it has.
#pragma once

#include <functional>
#include <string>

#include "bench/flags.h"
#include "bench/options.h"
#include "bench/peaks.h"
#include "kernels/machine.h"
#include "reports/model/peaks.h"

namespace parbench {

/// What is said beside the tables: what is being measured, and files that could not be used.
using Tell = std::function<void(const std::string&)>;

/// Tables of the peaks of all devices with which a run of any scenario would compute under these
/// options, each kind of device once. What the cache does not have is measured and kept. Throws
/// UsageError where the options do not suit the machine or the cache cannot be written, and as
/// measuring does.
[[nodiscard]] std::string peaks_text(const Options& options, const ScenarioList& scenarios,
                                     const Machine& machine, const report::PeakCache& cache,
                                     const PeakSizes& sizes, const Tell& tell);

/// Prints them for this machine and the user's cache.
void show_peaks(const Options& options, const ScenarioList& scenarios);

}  // namespace parbench
