// Measures peak rates of a device: matrix products, copies, memory traffic.
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

/// Problem size and duration of a peak measurement.
struct PeakSizes {
  /// Products of n×n matrices. n is doubled while the next product fits into memory and is expected
  /// to take at most `longest_product` seconds at the rate of the one before.
  std::int64_t min_n = 128;
  std::int64_t max_n = 16384;
  double longest_product = 0.25;
  std::size_t copied_bytes = std::size_t{128} << 20U;  // 128 MiB: more than most caches hold
  double sample_seconds = 0.02;                        // minimum duration; short calls are repeated
  int samples = 9;  // enough for a 95% interval that excludes min and max
  /// Called on a timeout while all objects in use exist; if it returns, the error is thrown.
  std::function<void(const TimedOut&)> on_timeout = [](const TimedOut&) {};
  /// Called before each execution; true ends the measurement.
  std::function<bool()> interrupted = [] { return false; };
};

/// Amount per second: the median of the samples, with its confidence interval.
struct Rate {
  double value = 0;
  std::optional<Interval> interval;
};

struct MeasurablePeak {
  std::string what;  // name as in reports/model/peaks.h
  std::string unit;
  /// Measures the peak, after checking the results of products. Throws Error if a result is wrong,
  /// OutOfMemory if the smallest sizes do not fit, Interrupted, and errors of executions.
  std::function<Rate()> measure;
};

/// Returns the peaks of a device of the context: products in each format that it computes natively,
/// or only in `only`; memory traffic; copies. The context must outlive them. Throws Unsupported if
/// the device does not compute `only`.
[[nodiscard]] std::vector<MeasurablePeak> measurable_peaks(Context& context, int device,
                                                           std::optional<NumberFormat> only,
                                                           const PeakSizes& sizes = {});

}  // namespace parbench
