// Checks of a forward pass without a reference: layers are recomputed naively.
#pragma once

#include <functional>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/inference/network_forward.h"

namespace parbench {

/// Returns the pass that planned a layer; with one device always the same.
using PassOfLayer = std::function<const NetworkForward&(int layer)>;

/// Adds checks that recompute every layer from its actual inputs, in the first and the last sample.
/// Convolutions without groups and linear layers are checked at several dozen positions, batch
/// normalisations in the first and the last channel, dropouts in the first sample, other layers
/// completely. Batch normalisations of more than 2^24 values, and other layers with more than 1e9
/// FLOP per sample, are skipped. The network and its passes must outlive the checks.
void add_layer_checks(CaseParts& parts, const StageRange& whole, const PassOfLayer& pass_of);

}  // namespace parbench
