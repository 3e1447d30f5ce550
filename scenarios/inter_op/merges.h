// Convolutions of a network that could run as one.
#pragma once

#include <vector>

#include "scenarios/models/network.h"
#include "scenarios/plan/schedules/inter_op.h"

namespace parbench {

/// Sets of convolutions that read the same and differ in nothing but their output channels: one
/// convolution with all of these channels computes the same. Of up to four such convolutions every
/// set of two or more, of more of them neighbours in the network's order. All costs are 1.
[[nodiscard]] std::vector<InterOpMerge> possible_merges(const Network& network);

}  // namespace parbench
