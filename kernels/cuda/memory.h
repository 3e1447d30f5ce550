// Memory of CUDA devices: on the device, page-locked host memory, and pageable host memory.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/buffer.h"

namespace parbench::cuda {

/// Allocates for the current device; `owner` is named in errors. Throws OutOfMemory.
[[nodiscard]] Buffer allocate_memory(const std::string& owner, std::size_t bytes, MemoryKind kind);

}  // namespace parbench::cuda
