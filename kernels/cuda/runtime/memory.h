// Memory of CUDA devices: on the device, page-locked host memory, and pageable host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/core/buffer.h"

namespace parbench::cuda {

/// Allocates for the current device; `owner` is named in errors. Throws OutOfMemory.
[[nodiscard]] Buffer allocate_memory(const std::string& owner, std::size_t bytes, MemoryKind kind);

/// Locks the pages of host memory that another backend allocated, for all GPUs, until what is
/// returned goes. Null for memory that is locked already. Throws OutOfMemory where it cannot be.
[[nodiscard]] std::shared_ptr<void> lock_pages(const std::string& owner, BufferView memory);

}  // namespace parbench::cuda
