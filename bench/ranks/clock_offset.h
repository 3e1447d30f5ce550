// How far the clock of a rank is ahead of that of rank 0.
#pragma once

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

struct ClockOffset {
  double ahead = 0;  // seconds of this rank's steady clock minus those of rank 0's
  double error = 0;  // at most, to either side
};

/// Measures it by round trips of messages; the shortest one counts, and half of it is the error.
/// All ranks call it. Rank 0 gets zeros.
[[nodiscard]] ClockOffset measure_clock_offset(RankLink& link);

}  // namespace parbench
