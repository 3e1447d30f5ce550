// Convolutions of a network that could be merged.
#pragma once

#include <vector>

#include "scenarios/models/network.h"
#include "scenarios/plan/schedules/inter_op.h"

namespace parbench {

/// Returns sets of convolutions without groups that read the same tensor and differ only in their
/// output channels, so that one convolution with all of these channels computes the same. With up
/// to four such convolutions of a tensor, these are all sets of two or more; with more, only sets
/// of neighbours in the network's order of these convolutions. The costs of all sets are 1.
[[nodiscard]] std::vector<InterOpMerge> possible_merges(const Network& network);

}  // namespace parbench
