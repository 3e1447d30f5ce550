// The CUDA backend as a whole.
#pragma once

#include <memory>

#include "kernels/machine.h"

namespace parbench::cuda {

/// Looks for GPUs; without a driver or a GPU the backend has no device and says why. Never throws.
[[nodiscard]] std::unique_ptr<Backend> make_backend();

}  // namespace parbench::cuda
