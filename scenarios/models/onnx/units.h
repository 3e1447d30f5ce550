// The units of networks of files: what pipelines may be cut between.
#pragma once

#include "scenarios/models/network.h"

namespace parbench::onnx_import {

/// Divides the layers of a network into units, whose names are those of their first layers.
void divide_into_units(Network& network);

}  // namespace parbench::onnx_import
