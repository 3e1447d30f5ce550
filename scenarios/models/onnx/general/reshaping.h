// Shapes that a Reshape asks for, whose samples it may not name.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::onnx_import {

/// The extents that a list of whole numbers asks for: −1 for what is left, 0 for that of `from`
/// unless `keeps_zeros`. Samples that it does not name, because the file has a fixed number of
/// them, are where they lie in `from`: as many elements lie inside of them. Throws CannotTranslate,
/// or std::invalid_argument for more elements than a memory holds.
[[nodiscard]] general::Extents reshaped_extents(const general::Extents& from,
                                                const std::vector<std::int64_t>& wanted,
                                                std::int64_t samples_of_file, bool keeps_zeros);

}  // namespace parbench::onnx_import
