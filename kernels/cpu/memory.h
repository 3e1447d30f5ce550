// Memory of CPU devices: large, aligned, touched or untouched as the kind demands.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/buffer.h"

namespace parbench::cpu {

/// Bytes that this process can still take: what the kernel calls available, or what the control
/// group leaves, whichever is less, minus a reserve for the program itself.
[[nodiscard]] std::size_t available_memory();

/// Physical memory, or the control group's limit when that is less.
[[nodiscard]] std::size_t total_memory();

/// Maps memory for `owner` (named in the error). Device and pinned memory is touched by the calling
/// thread, so that its pages lie near that thread's core. Throws OutOfMemory.
[[nodiscard]] Buffer map_memory(const std::string& owner, std::size_t bytes, MemoryKind kind);

/// Makes a buffer larger in place: the first call takes address space for all of the machine's
/// memory, and every call touches only what is new. Throws OutOfMemory and changes nothing.
void grow_memory(Buffer& buffer, const std::string& owner, std::size_t bytes, MemoryKind kind);

}  // namespace parbench::cpu
