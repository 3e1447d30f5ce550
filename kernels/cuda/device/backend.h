// The CUDA backend.
#pragma once

#include <functional>
#include <memory>

#include "kernels/core/backend.h"

namespace parbench::cuda {

class Nvml;
/// Loads the management library. Never returns null.
using LoadNvml = std::function<std::shared_ptr<const Nvml>()>;

/// Makes the backend and counts the GPUs. Without a driver or a GPU, the backend has no device and
/// its description is the reason. Does not throw.
[[nodiscard]] std::unique_ptr<Backend> make_backend();
/// Like `make_backend()`, but `load_nvml` loads the management library, at its first use.
[[nodiscard]] std::unique_ptr<Backend> make_backend(LoadNvml load_nvml);

}  // namespace parbench::cuda
