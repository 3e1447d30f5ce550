// Layers of images by plain loops in double precision. Tensors are canonical, samples outermost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench::test {

/// The output of a layer that windows, normalises or moves channels; nothing for other kinds.
/// `input` returns an input's values, `parameter` those of the layer's parameter with a suffix.
[[nodiscard]] std::optional<std::vector<double>> computed_of_images(
    const Layer& layer, const Shape& source,
    const std::function<const std::vector<double>&(std::size_t)>& input,
    const std::function<std::vector<double>(const char*)>& parameter, std::int64_t samples);

}  // namespace parbench::test
