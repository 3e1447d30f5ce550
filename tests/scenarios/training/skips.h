// A small network with connections past units.
#pragma once

#include "scenarios/models/network.h"

namespace parbench::test {

/// Unit `left` reads the output of the stem, `right` those of both and the network's input again,
/// `head` those of the stem and of `right`: up to three tensors cross.
[[nodiscard]] Network network_with_skips();

}  // namespace parbench::test
