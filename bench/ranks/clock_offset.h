// Offset between the clocks of a rank and of rank 0.
#pragma once

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

struct ClockOffset {
  double ahead = 0;  // this rank's steady clock minus rank 0's, in seconds
  double error = 0;  // maximum error in seconds, to either side
};

/// Measures the offset by round trips of messages; the shortest one counts, and half of its
/// duration is the error. All ranks call it. Rank 0 gets zeros.
[[nodiscard]] ClockOffset measure_clock_offset(RankLink& link);

}  // namespace parbench
