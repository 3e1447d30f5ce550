// The CPU backend: a device is a set of cores, which other devices share only on request. Kernels
// are those of oneDNN and loops of this project.
#pragma once

#include <memory>

#include "kernels/core/backend.h"

namespace parbench::cpu {

/// Makes the backend for the cores in the process's affinity mask. Throws Error if the mask or the
/// topology cannot be read, and UsageError for an invalid PARBENCH_CPU_LAYOUT.
[[nodiscard]] std::unique_ptr<Backend> make_backend();

}  // namespace parbench::cpu
