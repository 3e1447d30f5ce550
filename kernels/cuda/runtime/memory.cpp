// Allocation through the runtime library.
#include "kernels/cuda/runtime/memory.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "kernels/base/error.h"
#include "kernels/base/round_up.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

constexpr std::size_t page = 4096;

/// Makes the kernel prefer the NUMA node nearest to the current device for pages that this thread
/// allocates during the lifetime of the object. Copies from other nodes cross the link between
/// them. Has no effect if the thread has a policy, for example by numactl, or the system refuses to
/// set one, as containers without CAP_SYS_NICE do.
class NearDevice {
 public:
  NearDevice() {
    constexpr int max_nodes = sizeof(unsigned long) * CHAR_BIT;
    int device = 0;
    int node = -1;
    PARBENCH_CUDA(cudaGetDevice(&device));
    if (cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device) != cudaSuccess) {
      (void)cudaGetLastError();  // a driver that does not know the attribute
    }
    if (node < 0 || node >= max_nodes) return;  // negative: unknown, or no NUMA nodes
    int policy = MPOL_DEFAULT;
    if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0) return;
    if (policy != MPOL_DEFAULT) return;
    const unsigned long nodes = 1UL << static_cast<unsigned int>(node);
    is_set_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, &nodes, max_nodes + 1) == 0;
  }
  ~NearDevice() {
    if (is_set_) (void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
  }
  NearDevice(const NearDevice&) = delete;
  NearDevice& operator=(const NearDevice&) = delete;

 private:
  bool is_set_ = false;
};

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
  const NearDevice near;
  const cudaError_t status = cudaHostAlloc(&address, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw OutOfMemory(
        owner + ": not enough page-locked host memory; use --memory pageable or a smaller case");
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
  // The memory was locked before, for example by another device of the run.
  if (status == cudaErrorHostMemoryAlreadyRegistered) return nullptr;
  throw OutOfMemory(fmt::format(
      "{}: {} bytes of the host's memory cannot be page-locked for copies: {}; use a smaller case, "
      "or devices of one backend",
      owner, memory.bytes, text_of(status)));
}

}  // namespace parbench::cuda
