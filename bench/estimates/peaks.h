// Measures the best rates of a device: products of matrices, copies, traffic with its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/units/interval.h"
#include "scenarios/framework/context.h"

namespace parbench {

/// How large what is timed is, and how long.
struct PeakSizes {
  /// Products of n×n matrices: n is doubled while the next product would take `longest_product`
  /// seconds at most, to judge by the one before, and finds the memory.
  std::int64_t min_n = 128;
  std::int64_t max_n = 16384;
  double longest_product = 0.25;
  std::size_t copied_bytes = std::size_t{128} << 20U;  // more than caches hold
  double sample_seconds = 0.02;                        // as often in a row as it takes for that
  int samples = 9;                                     // the fewest beyond 95% with a rank to spare
  /// Called while everything that still runs is there; where it returns, the error is passed on.
  std::function<void(const TimedOut&)> on_timeout = [](const TimedOut&) {};
  /// Asked before each execution whether to end.
  std::function<bool()> interrupted = [] { return false; };
};

/// Something per second: the median of the samples, with its interval.
struct Rate {
  double value = 0;
  std::optional<Interval> interval;
};

/// One best rate that a device has.
struct MeasurablePeak {
  std::string what;  // as reports/model/peaks.h names them
  std::string unit;
  /// Each product is checked before it is timed. Throws Error where it is wrong, OutOfMemory where
  /// there is no room for the smallest sizes, Interrupted, and what a worker threw.
  std::function<Rate()> measure;
};

/// Returns those of a device of the context, which outlives them: products in each format that it
/// computes natively, or in `only` that, the traffic with its memory, and its copies. Throws
/// Unsupported where it does not compute `only`.
[[nodiscard]] std::vector<MeasurablePeak> measurable_peaks(Context& context, int device,
                                                           std::optional<NumberFormat> only,
                                                           const PeakSizes& sizes = {});

}  // namespace parbench
