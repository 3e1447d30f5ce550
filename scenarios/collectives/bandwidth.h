// Bandwidths of collectives as defined by nccl-tests (doc/PERFORMANCE.md there), and a linear fit
// of times over sizes.
#pragma once

#include <optional>
#include <vector>

#include "kernels/core/communicator.h"

namespace parbench {

/// Returns the ratio of bus bandwidth to algorithm bandwidth (size over time). The bus bandwidth
/// can be compared with that of a link for any number of members. 2(p − 1)/p for all-reduce; (p −
/// 1)/p for all-gather, reduce-scatter and all-to-all; otherwise 1.
[[nodiscard]] double bus_factor(Collective collective, int members);

/// The measured time of a collective. `error`: its standard error in seconds, above 0.
struct TimeOfSize {
  double bytes = 0;
  double seconds = 0;
  double error = 0;
};

/// seconds = latency + bytes · seconds_per_byte, with standard errors.
struct LatencyFit {
  double latency = 0;  // α
  double latency_error = 0;
  double seconds_per_byte = 0;  // β
  double seconds_per_byte_error = 0;
  double largest_deviation = 0;  // maximum deviation of a time from the line, relative to the line

  /// Returns the asymptotic bandwidth for large sizes, 1/β, in bytes per second.
  [[nodiscard]] double bandwidth() const { return 1 / seconds_per_byte; }
  [[nodiscard]] double bandwidth_error() const {
    return seconds_per_byte_error / (seconds_per_byte * seconds_per_byte);
  }
};

/// Fits the line by weighted least squares, with weights 1/error². If times deviate from the line
/// by more than their errors explain, the errors of the fit are multiplied by the root of the mean
/// squared deviation (χ² over the degrees of freedom). Nothing for fewer than three sizes, or if
/// time does not grow with size.
[[nodiscard]] std::optional<LatencyFit> fit_latency(const std::vector<TimeOfSize>& times);

}  // namespace parbench
