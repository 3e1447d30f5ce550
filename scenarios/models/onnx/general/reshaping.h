// Shapes requested by a Reshape, which may not mention the samples.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::onnx_import {

/// Returns the extents requested by a list of integers: −1 for the remainder, 0 for the extent of
/// `from` unless `keeps_zeros`. If the file has a fixed number of samples, the list does not
/// mention them; they keep their position in `from`, with the same number of elements inside of
/// them. Throws CannotTranslate, or std::invalid_argument for more elements than fit any memory.
[[nodiscard]] general::Extents reshaped_extents(const general::Extents& from,
                                                const std::vector<std::int64_t>& wanted,
                                                std::int64_t samples_of_file, bool keeps_zeros);

}  // namespace parbench::onnx_import
