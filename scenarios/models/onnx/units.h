// Units of networks from files, between which pipelines may be split.
#pragma once

#include "scenarios/models/network.h"

namespace parbench::onnx_import {

/// Divides the layers of a network into units, named after their first layers.
void divide_into_units(Network& network);

}  // namespace parbench::onnx_import
