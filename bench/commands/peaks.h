// The command `peaks`: measures what the cache does not have, shows what it has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "bench/cli/flag.h"
#include "bench/estimates/peaks.h"
#include "kernels/machine/machine.h"
#include "reports/io/peak_cache.h"

namespace parbench {

struct PeakOptions {
  std::string devices;                 // as given; empty: the scenarios' defaults
  std::optional<NumberFormat> format;  // of the products; none: all
  bool refresh = false;                // measured although they are known
  double precision_percent = 10;       // a wider interval (half width) is not kept
  std::optional<int> width;            // columns of the tables
};

/// Receives notes beside the tables: what is being measured, and files that could not be used.
using Notify = std::function<void(const std::string&)>;

/// The result of a survey.
struct PeakSurvey {
  std::string text;          // tables of the devices, and where the peaks are kept
  std::size_t refused = 0;   // rates that were measured and not kept
  bool interrupted = false;  // before everything was measured
};

/// Surveys the peaks of all devices with which a run of any scenario would compute under these
/// options, each kind of device once. What the cache does not have is measured and kept, each peak
/// at once. A rate is measured again, and at last not kept, where other programs or a CPU quota
/// took the time of its cores; `root` is the folder that holds proc and sys, which show this.
/// Throws UsageError where the options do not suit the machine or the cache cannot be written, and
/// as measuring does, but for Interrupted.
[[nodiscard]] PeakSurvey survey_peaks(const PeakOptions& options, const ScenarioList& scenarios,
                                      const Machine& machine, const report::PeakCache& cache,
                                      const PeakSizes& sizes, const Notify& note,
                                      const std::filesystem::path& root = "/");

}  // namespace parbench
