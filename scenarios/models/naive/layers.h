// Computes the output of a layer by plain loops in double precision, as a reference for tests and
// checks. Tensors are canonical, samples outermost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench::naive {

using Values = std::vector<double>;
/// A function that returns the values of one of the layer's inputs.
using Input = std::function<const Values&(std::size_t which)>;
/// A function that returns the values of the layer's parameter with a name that ends with `suffix`,
/// such as ".weight".
using Parameter = std::function<Values(const char* suffix)>;

/// Returns the output of a layer for `samples` samples, over which batch normalisations compute
/// their statistics. `source`: shape of a sample of the layer's first input.
[[nodiscard]] Values output_of(const Layer& layer, const Shape& source, const Input& input,
                               const Parameter& parameter, std::int64_t samples);

}  // namespace parbench::naive
