// Checks of a forward pass that need no reference: layers recomputed naively.
#pragma once

#include <functional>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/inference/network_forward.h"

namespace parbench {

/// The pass that planned a layer: with one device always the same.
using PassOfLayer = std::function<const NetworkForward&(int layer)>;

/// Recomputes every layer from the sources that it really had: several dozen places of convolutions
/// without groups and of linear layers, all values of other layers, in the first and the last
/// sample; of batch normalisations the first and the last channel of these, of dropouts the first
/// sample. Left out are batch normalisations of more than 2^24 values, and other layers than such
/// products with more than 1e9 FLOP a sample.
/// The network and its passes outlive the checks of the case.
void add_layer_checks(CaseParts& parts, const StageRange& whole, const PassOfLayer& pass_of);

}  // namespace parbench
