// Computes layers of images by plain loops in double precision. Tensors are canonical, samples
// outermost.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/models/naive/layers.h"

namespace parbench::naive {

/// Like `output_of` for a MaxPool, AveragePool, padding, local response normalisation, transposed
/// convolution, or concatenation, shuffle or slice of channels; nothing for other kinds.
[[nodiscard]] std::optional<Values> output_of_images(const Layer& layer, const Shape& source,
                                                     const Input& input, const Parameter& parameter,
                                                     std::int64_t samples);

}  // namespace parbench::naive
