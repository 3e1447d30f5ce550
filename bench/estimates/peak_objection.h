// Decides whether a measured peak is stored for later runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// Peaks of the same kind of device with another number of cores.
struct PeaksOfCores {
  std::size_t cores = 0;
  std::vector<report::Peak> peaks;
};

/// Returns whether fewer cores are faster than more cores by more than `precision` (a fraction)
/// with disjoint intervals. Considers only matrix products and memory traffic, which use all cores,
/// not copies.
[[nodiscard]] bool contradicts(const report::Peak& of_fewer, const report::Peak& of_more,
                               double precision);

/// Returns why a peak of a device with `cores` cores must not be stored; empty if it may be.
/// Reasons: a CPU quota withheld too much of the CPU time (`quota_lost`, a fraction); the peak's
/// interval is wider than ± `precision` (a fraction of the rate); other programs took `taken` of
/// the CPU time, at least 10% and `precision`; a peak of fewer cores in `others` contradicts this
/// one.
[[nodiscard]] std::string objection_to(const report::Peak& peak, std::size_t cores,
                                       double precision, const std::vector<PeaksOfCores>& others,
                                       double quota_lost = 0, double taken = 0);

}  // namespace parbench
