// Memory of CPU devices: large, aligned, touched or untouched as the kind demands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/core/buffer.h"

namespace parbench::cpu {

/// Bytes that this process can still take: what the kernel calls available, or what the control
/// group leaves, whichever is less, minus a reserve for the program itself.
[[nodiscard]] std::size_t available_memory();

/// Physical memory, or the control group's limit when that is less.
[[nodiscard]] std::size_t total_memory();

/// Whose memory it is: a name for errors, and the cores near which its pages belong.
struct MemoryOwner {
  const std::string& name;
  const std::vector<int>& cores;
};

/// Maps memory. Device and pinned memory is touched by threads on the owner's cores, all at once:
/// first touch is slow, and where it happens decides where a page lies. Throws OutOfMemory.
[[nodiscard]] Buffer map_memory(const MemoryOwner& owner, std::size_t bytes, MemoryKind kind);

/// Makes a buffer larger in place: the first call takes address space for all of the machine's
/// memory, and every call touches only what is new. Throws OutOfMemory and changes nothing.
void grow_memory(Buffer& buffer, const MemoryOwner& owner, std::size_t bytes, MemoryKind kind);

}  // namespace parbench::cpu
