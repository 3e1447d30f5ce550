// Memory of CUDA devices: on the device, page-locked host memory, and pageable host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/core/buffer.h"

namespace parbench::cuda {

/// Allocates for the current device; `owner` is named in errors. Throws OutOfMemory.
[[nodiscard]] Buffer allocate_memory(const std::string& owner, std::size_t bytes, MemoryKind kind);

/// Locks the pages of host memory of another backend, for all GPUs, during the lifetime of the
/// result. Returns null if the memory is already locked. Throws OutOfMemory if it cannot be locked.
[[nodiscard]] std::shared_ptr<void> lock_pages(const std::string& owner, BufferView memory);

}  // namespace parbench::cuda
