// Memory of CPU devices: aligned to pages, and touched or untouched depending on its kind.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/core/buffer.h"

namespace parbench::cpu {

/// Returns the bytes that this process can still allocate: the kernel's available memory or the
/// remainder of the control group, whichever is less, minus a reserve for the program itself.
[[nodiscard]] std::size_t available_memory();

/// Returns the physical memory, or the control group's limit if that is less.
[[nodiscard]] std::size_t total_memory();

/// Owner of memory: a name for errors, and the cores near which its pages should be.
struct MemoryOwner {
  const std::string& name;
  const std::vector<int>& cores;
};

/// Maps memory. Several threads on the owner's cores touch device and pinned memory at the same
/// time: first touch is slow, and the touching core determines the NUMA node of a page. Throws
/// OutOfMemory.
[[nodiscard]] Buffer map_memory(const MemoryOwner& owner, std::size_t bytes, MemoryKind kind);

/// Enlarges a buffer in place, and touches only the added part. A buffer whose capacity is too
/// small is replaced by a buffer with address space for all of the machine's memory. Throws
/// OutOfMemory and leaves the buffer unchanged.
void grow_memory(Buffer& buffer, const MemoryOwner& owner, std::size_t bytes, MemoryKind kind);

}  // namespace parbench::cpu
