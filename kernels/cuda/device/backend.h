// The CUDA backend as a whole.
#pragma once

#include <functional>
#include <memory>

#include "kernels/core/backend.h"

namespace parbench::cuda {

class Nvml;
/// Never returns null.
using LoadNvml = std::function<std::shared_ptr<const Nvml>()>;

/// Looks for GPUs; without a driver or a GPU the backend has no device and says why. Never throws.
[[nodiscard]] std::unique_ptr<Backend> make_backend();
/// The management library is loaded when something is first asked of it.
[[nodiscard]] std::unique_ptr<Backend> make_backend(LoadNvml load_nvml);

}  // namespace parbench::cuda
