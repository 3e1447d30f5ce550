// Checks of a forward pass that need no reference: products of layers recomputed naively.
#pragma once

#include "scenarios/framework/prepared_case.h"
#include "scenarios/inter_op/network_forward.h"

namespace parbench {

/// Recomputes several dozen places of every convolution without groups and of every linear layer,
/// in the first and the last sample, from the source that the layer really had. The network and the
/// pass outlive the case's parts.
void add_layer_checks(CaseParts& parts, const StageRange& whole, const NetworkForward& forward);

}  // namespace parbench
