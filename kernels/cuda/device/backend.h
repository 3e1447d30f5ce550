// The CUDA backend.
#pragma once

#include <functional>
#include <memory>

#include "kernels/core/backend.h"

namespace parbench::cuda {

class Nvml;
/// Loads the management library. Never returns null.
using LoadNvml = std::function<std::shared_ptr<const Nvml>()>;

/// Looks for GPUs. Without a driver or a GPU the backend has no device and its description is the
/// reason. Never throws.
[[nodiscard]] std::unique_ptr<Backend> make_backend();
/// Uses `load_nvml` to load the management library at its first use.
[[nodiscard]] std::unique_ptr<Backend> make_backend(LoadNvml load_nvml);

}  // namespace parbench::cuda
