// Allocation through the runtime library.
#include "kernels/cuda/runtime/memory.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>

#include "kernels/base/error.h"
#include "kernels/base/round_up.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

constexpr std::size_t page = 4096;

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  PARBENCH_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

Buffer allocate_device(const std::string& owner, std::size_t bytes) {
  void* address = nullptr;
  const cudaError_t status = cudaMalloc(&address, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw OutOfMemory(owner, bytes, free_bytes());
  }
  PARBENCH_CUDA(status);
  return {static_cast<std::byte*>(address), bytes, MemoryKind::device,
          [](std::byte* data) { (void)cudaFree(data); }};
}

Buffer allocate_pinned(const std::string& owner, std::size_t bytes) {
  void* address = nullptr;
  const cudaError_t status = cudaHostAlloc(&address, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw OutOfMemory(owner +
                      ": no page-locked host memory for the request; use --memory pageable "
                      "or a smaller case");
  }
  PARBENCH_CUDA(status);
  return {static_cast<std::byte*>(address), bytes, MemoryKind::pinned,
          [](std::byte* data) { (void)cudaFreeHost(data); }};
}

/// Allocates whole pages, so that single pages can be returned to the system (operation Discard).
Buffer allocate_pageable(const std::string& owner, std::size_t bytes) {
  void* address = std::aligned_alloc(page, round_up(bytes, page));
  if (address == nullptr) {
    throw OutOfMemory(owner + ": out of memory on the host; use a smaller case");
  }
  return {static_cast<std::byte*>(address), bytes, MemoryKind::pageable,
          [](std::byte* data) { std::free(data); }};
}

}  // namespace

Buffer allocate_memory(const std::string& owner, std::size_t bytes, MemoryKind kind) {
  if (bytes == 0) return {};
  switch (kind) {
    case MemoryKind::device:
      return allocate_device(owner, bytes);
    case MemoryKind::pinned:
      return allocate_pinned(owner, bytes);
    case MemoryKind::pageable:
      break;
  }
  return allocate_pageable(owner, bytes);
}

std::shared_ptr<void> lock_pages(const std::string& owner, BufferView memory) {
  const cudaError_t status =
      cudaHostRegister(memory.data(), memory.bytes, cudaHostRegisterPortable);
  if (status == cudaSuccess) {
    return {static_cast<void*>(memory.data()), [](void* data) { (void)cudaHostUnregister(data); }};
  }
  if (is_sticky(status)) PARBENCH_CUDA(status);
  (void)cudaGetLastError();
  // another GPU of the run has already locked the memory
  if (status == cudaErrorHostMemoryAlreadyRegistered) return nullptr;
  throw OutOfMemory(fmt::format(
      "{}: {} bytes of the host's memory cannot be page-locked for copies: {}; use a smaller case, "
      "or devices of one backend",
      owner, memory.bytes, text_of(status)));
}

}  // namespace parbench::cuda
