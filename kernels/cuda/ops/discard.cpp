// Returns pages of pageable host memory to the system in stream order, by a host function.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Whole pages to return, and the variable that receives errno if the system refuses.
struct Pages {
  void* first;
  std::size_t bytes;  // 0 if there is no whole page
  std::atomic<int>* failure;
};

// Runs in a thread of the driver, where no CUDA function may be called.
void give_back(void* user_data) {
  const auto* pages = static_cast<const Pages*>(user_data);
  if (madvise(pages->first, pages->bytes, MADV_DONTNEED) != 0) *pages->failure = errno;
}

Pages whole_pages(std::byte* memory, std::size_t bytes, std::atomic<int>& failure) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* first = memory;
  if (std::align(page, page, first, bytes) == nullptr) return {memory, 0, &failure};
  return {first, bytes - bytes % page, &failure};
}

class DiscardOp final : public CudaOp {
 public:
  DiscardOp(CudaDevice& device, const Discard& desc)
      : CudaOp(device, desc), bytes_(static_cast<std::size_t>(desc.bytes)) {
    work_.bytes = 0;  // no data is moved
    set_implementation("madvise in a host function");
  }

  // Throws the error of an earlier execution first, whose host function could not throw. Replays of
  // a graph do not call this function, but the captured host function for the same pages.
  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    if (const int reason = failure_.exchange(0); reason != 0) throw kept(std::strerror(reason));
    Pages& pages = pages_at(arguments[0]);
    if (pages.bytes == 0) return;
    PARBENCH_CUDA(cudaLaunchHostFunc(stream.handle(), give_back, &pages));
  }

 private:
  /// Returns the entry for an address. It is made in the first execution with this address, which
  /// is before timing starts.
  Pages& pages_at(std::byte* memory) {
    const auto known = known_.find(memory);
    if (known != known_.end()) return known->second;
    check_pageable(memory);
    return known_.emplace(memory, whole_pages(memory, bytes_, failure_)).first->second;
  }

  void check_pageable(const std::byte* memory) const {
    cudaPointerAttributes attributes{};
    PARBENCH_CUDA(cudaPointerGetAttributes(&attributes, memory));
    if (attributes.type == cudaMemoryTypeUnregistered) return;
    throw kept("it is page-locked or on the device");
  }

  [[nodiscard]] Error kept(std::string_view reason) const {
    return Error(
        fmt::format("{}: the system keeps the {} bytes ({}); only pageable memory can be "
                    "discarded, use --memory pageable",
                    name_, bytes_, reason));
  }

  std::size_t bytes_;
  std::atomic<int> failure_{0};
  /// Pages by address. Pending executions, and captured ones as long as their graph exists, refer
  /// to an entry. Entries are therefore never changed or removed; a map does not move them.
  std::map<std::byte*, Pages> known_;
};

}  // namespace

Planned plan(CudaDevice& device, const Discard& desc) {
  return std::make_unique<DiscardOp>(device, desc);
}

}  // namespace parbench::cuda
