// Whether a measured peak is to be kept: peaks outlive the moment in which they were measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace parbench {

/// Peaks of a device of the same kind, with so many cores.
struct PeaksOfCores {
  std::size_t cores = 0;
  std::vector<report::Peak> peaks;
};

/// Whether the rate of fewer cores is above that of more cores, by more than `precision`, a share,
/// and by intervals that do not meet. Only of peaks to which all cores contribute, which the copy
/// lane's is not.
[[nodiscard]] bool contradicts(const report::Peak& of_fewer, const report::Peak& of_more,
                               double precision);

/// Returns why a peak of a device with `cores` cores is not to be kept: a CPU quota withheld the
/// share `quota_lost` of the CPU time, other programs took the share `taken` of it, at least 10%
/// and `precision`, its interval is wider than `precision`, a share of the rate, or one of `others`
/// with fewer cores contradicts it. Empty where it may be kept.
[[nodiscard]] std::string objection_to(const report::Peak& peak, std::size_t cores,
                                       double precision, const std::vector<PeaksOfCores>& others,
                                       double quota_lost = 0, double taken = 0);

}  // namespace parbench
