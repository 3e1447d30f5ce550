// The output of a layer by plain loops in double precision: what tests and checks compare with.
// Tensors are canonical, samples outermost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench::naive {

using Values = std::vector<double>;
/// The values of one of the layer's inputs.
using Input = std::function<const Values&(std::size_t which)>;
/// The values of the layer's parameter with that end of its name: ".weight".
using Parameter = std::function<Values(const char* suffix)>;

/// The output of a layer for so many samples, whose own statistics normalise it. `source` is the
/// shape of a sample of its first input.
[[nodiscard]] Values output_of(const Layer& layer, const Shape& source, const Input& input,
                               const Parameter& parameter, std::int64_t samples);

}  // namespace parbench::naive
