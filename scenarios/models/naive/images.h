// Computes layers of images by plain loops in double precision. Tensors are canonical, samples
// outermost.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/models/naive/layers.h"

namespace parbench::naive {

/// Returns the output of a pooling, padding, local response normalisation, transposed convolution
/// or movement of channels; nothing for other kinds. See `output_of`.
[[nodiscard]] std::optional<Values> output_of_images(const Layer& layer, const Shape& source,
                                                     const Input& input, const Parameter& parameter,
                                                     std::int64_t samples);

}  // namespace parbench::naive
