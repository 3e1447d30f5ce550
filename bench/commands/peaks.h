// The command `peaks`: prints a machine's peaks, and measures those that are not in the cache.
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
  std::optional<NumberFormat> format;  // format of products; empty: all formats
  bool refresh = false;                // measure known peaks again
  double precision_percent = 10;       // peaks with a wider interval (half width) are not stored
  std::optional<int> width;            // columns of the tables
};

/// Receives messages: what is being measured, and files that could not be used.
using Notify = std::function<void(const std::string&)>;

struct PeakSurvey {
  std::string text;          // tables of the devices, and the path of the cache
  std::size_t refused = 0;   // number of measured peaks that were not stored
  bool interrupted = false;  // ended before everything was measured
};

/// Surveys the peaks of all devices that a run of any scenario would use under these options, each
/// kind of device once. Missing peaks are measured, and stored one by one. A peak that
/// `objection_to` rejects is measured up to three times and then not stored. `root`: folder with
/// proc and sys, which show the use of cores and the CPU quota. Throws UsageError if the options do
/// not suit the machine or the cache cannot be written, and errors of the measurement except
/// Interrupted.
[[nodiscard]] PeakSurvey survey_peaks(const PeakOptions& options, const ScenarioList& scenarios,
                                      const Machine& machine, const report::PeakCache& cache,
                                      const PeakSizes& sizes, const Notify& note,
                                      const std::filesystem::path& root = "/");

}  // namespace parbench
