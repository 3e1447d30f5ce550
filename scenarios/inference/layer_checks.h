// Checks of a forward pass without a reference: layers are recomputed naively.
#pragma once

#include <functional>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/inference/network_forward.h"

namespace parbench {

/// Returns the pass that planned a layer; with one device, the same for all layers.
using PassOfLayer = std::function<const NetworkForward&(int layer)>;

/// Adds a check that the network's output is finite, and that recomputes layers from their actual
/// inputs, in the first and the last sample. Convolutions without groups and linear layers are
/// checked at several dozen positions, batch normalisations in the first and the last channel,
/// dropouts in the first sample, compositions that mix samples in all samples, other layers
/// completely. Skips batch normalisations of more than 2^24 values, layers to be checked completely
/// with more than 1e9 FLOP per sample, and mixing compositions with more than 1e9 FLOP. The network
/// and its passes must outlive the checks.
void add_layer_checks(CaseParts& parts, const StageRange& whole, const PassOfLayer& pass_of);

}  // namespace parbench
