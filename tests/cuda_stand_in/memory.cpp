// Memory: allocations between guard pages, which begin with NaNs; and copies.
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "kernels/base/round_up.h"
#include "tests/cuda_stand_in/objects.h"
#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::stand_in {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t alignment = 256;  // of cudaMalloc
constexpr int nans = 0xFF;              // bytes of NaNs of every type

using Entry = std::map<std::uintptr_t, Allocation>::iterator;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// The allocation with the address, or the one after it.
Entry find(std::uintptr_t address) {
  auto& all = state().allocations;
  auto next = all.upper_bound(address);
  if (next == all.begin()) return next;
  const auto before = std::prev(next);
  return address < before->first + before->second.bytes ? before : next;
}

/// The guards lie right before and, to within the alignment, right after it.
void* allocate(std::size_t bytes, Allocation::Kind kind) {
  const std::size_t inner = round_up(bytes, page);
  auto* pages = static_cast<std::byte*>(
      mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED) return nullptr;
  if (mprotect(pages + page, inner, PROT_READ | PROT_WRITE) != 0) return nullptr;
  int policy = MPOL_DEFAULT;
  (void)syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0);
  std::byte* address = pages + page + inner - round_up(bytes, alignment);
  std::memset(pages + page, nans, inner);
  auto& freed = state().freed;
  freed.erase(freed.lower_bound(number_of(pages)),
              freed.lower_bound(number_of(pages) + inner + 2 * page));
  state().allocations[number_of(address)] = {.kind = kind,
                                             .bytes = bytes,
                                             .device = current_context()->device,
                                             .placed = policy != MPOL_DEFAULT,
                                             .pages = pages,
                                             .page_bytes = inner + 2 * page};
  return address;
}

cudaError_t make_memory(const Call& call, void** address, std::size_t bytes,
                        Allocation::Kind kind) {
  *address = nullptr;
  if (const cudaError_t lost = call.lost()) return lost;
  if (bytes == 0) return cudaSuccess;
  int& left = state().allocations_to_failure;
  const bool fails = left == 1;
  left = std::max(0, left - 1);
  if (fails) return call.fail(cudaErrorMemoryAllocation);
  const bool is_full = kind == Allocation::Kind::device &&
                       bytes > memory_bytes - used_bytes(current_context()->device);
  if (is_full) return call.fail(cudaErrorMemoryAllocation);
  *address = allocate(bytes, kind);
  return *address != nullptr ? cudaSuccess : call.fail(cudaErrorMemoryAllocation);
}

/// Waits for all streams of the device, as the real library does.
cudaError_t free_memory(Call& call, void* address, Allocation::Kind kind) {
  const auto found = state().allocations.find(number_of(address));
  if (found == state().allocations.end() || found->second.kind != kind) {
    refuse(call.name(), "no address that was allocated so");
  }
  drain(call, found->second.device);
  const Allocation gone = found->second;
  state().freed[found->first] = gone.bytes;
  state().allocations.erase(found);
  if (const cudaError_t lost = call.lost()) return lost;  // a task may still use it
  (void)munmap(gone.pages, gone.page_bytes);
  return cudaSuccess;
}

std::vector<std::byte> staged(const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  return {first, first + bytes};
}

/// Overwrites the target with NaNs, which are read by a stream that does not wait for the copy.
void begin_copy(void* to, std::size_t bytes) {
  std::memset(to, nans, bytes);
  pause_at_random();
}

bool are_peers(const Allocation& one, const Allocation& other) {
  constexpr auto device = Allocation::Kind::device;
  return one.kind == device && other.kind == device && one.device != other.device;
}

constexpr const char* out_of_sight = "memory of another device, without peer access";

bool sees(int device, const Allocation& memory) {
  return memory.kind != Allocation::Kind::device || memory.device == device ||
         state().peers.contains({device, memory.device});
}

/// What a word of a kernel's arguments may not be; null if it may be so.
const char* problem_of(const Word& word, int device) {
  const auto found = find(word.value);
  if (found != state().allocations.end() && found->first <= word.value) {
    return sees(device, found->second) ? nullptr : out_of_sight;
  }
  const auto after = state().freed.upper_bound(word.value);
  const bool is_freed = after != state().freed.begin() &&
                        word.value < std::prev(after)->first + std::prev(after)->second;
  if (is_freed) return "memory that was freed";
  // an empty tensor may begin at the end of memory
  const auto last = find(word.value - 1);
  const bool ends_memory = last != state().allocations.end() && last->first < word.value;
  return word.is_pointer && word.value != 0 && !ends_memory ? "memory of no device" : nullptr;
}

}  // namespace

const Allocation* allocation_of(const std::string& call, const void* address, std::size_t bytes) {
  const std::uintptr_t first = number_of(address);
  const auto found = find(first);
  if (found == state().allocations.end() || first + bytes <= found->first) return nullptr;
  if (first < found->first || first + bytes > found->first + found->second.bytes) {
    refuse(call, "the bytes exceed an allocation");
  }
  return &found->second;
}

bool is_placed(const void* address) {
  const std::lock_guard lock(state().mutex);
  const Allocation* allocation = allocation_of("is_placed", address, 1);
  return allocation != nullptr && allocation->placed;
}

void check_device_memory(const char* call, int device, const void* address, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(state().mutex);
  const Allocation* const memory = allocation_of(call, address, bytes);
  if (memory == nullptr) refuse(call, "an address of no device");
  if (!sees(device, *memory)) refuse(call, out_of_sight);
}

void check_arguments(cudaStream_t stream, const std::vector<Word>& words) {
  const std::lock_guard lock(state().mutex);
  if (state().lost != cudaSuccess) return;
  for (const Word& word : words) {
    const char* problem = problem_of(word, stream->context->device);
    if (problem != nullptr) refuse("a kernel's argument", problem);
  }
}

}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  const Call call(__func__);
  return make_memory(call, address, bytes, Allocation::Kind::device);
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned int flags) {
  const Call call(__func__);
  if (flags != cudaHostAllocPortable) return call.fail(cudaErrorNotSupported, "other flags");
  return make_memory(call, address, bytes, Allocation::Kind::pinned);
}

cudaError_t cudaFree(void* address) {
  Call call(__func__);
  if (address == nullptr) {
    (void)current_context();
    return call.lost();
  }
  return free_memory(call, address, Allocation::Kind::device);
}

cudaError_t cudaFreeHost(void* address) {
  Call call(__func__);
  return free_memory(call, address, Allocation::Kind::pinned);
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned int flags) {
  PARBENCH_CALL();
  if (flags != cudaHostRegisterPortable) return call.fail(cudaErrorNotSupported, "other flags");
  if (allocation_of(call.name(), address, bytes) != nullptr) {
    return call.fail(cudaErrorHostMemoryAlreadyRegistered);
  }
  state().allocations[reinterpret_cast<std::uintptr_t>(address)] = {
      .kind = Allocation::Kind::registered, .bytes = bytes, .device = current_context()->device};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* address) {
  Call call(__func__);
  const auto found = state().allocations.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == state().allocations.end() || found->second.kind != Allocation::Kind::registered) {
    refuse(__func__, "memory that is not registered");
  }
  state().allocations.erase(found);
  return call.lost();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const Call call(__func__);
  *attributes = {};
  const Allocation* allocation = allocation_of(call.name(), address, 1);
  attributes->type = cudaMemoryTypeUnregistered;
  if (allocation == nullptr) return cudaSuccess;
  attributes->device = allocation->device;
  attributes->type =
      allocation->kind == Allocation::Kind::device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  return cudaSuccess;
}

/// From pageable memory, a small copy is staged and done later, as the documentation allows. For
/// other copies with pageable memory it returns when they are done.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  constexpr std::size_t max_staged = std::size_t{1} << 16U;
  PARBENCH_CALL(stream);
  if (kind != cudaMemcpyDefault) return call.fail(cudaErrorNotSupported, "use cudaMemcpyDefault");
  if (bytes == 0) return cudaSuccess;
  const Allocation* target = allocation_of(call.name(), to, bytes);
  const Allocation* source = allocation_of(call.name(), from, bytes);
  const bool pageable = target == nullptr || source == nullptr;
  if (target != nullptr && source == nullptr && bytes <= max_staged && !stream->capture) {
    const auto copy = [to, bytes_to_copy = staged(from, bytes)] {
      begin_copy(to, bytes_to_copy.size());
      std::memcpy(to, bytes_to_copy.data(), bytes_to_copy.size());
    };
    submit(*stream, copy, Work::copy);
    return cudaSuccess;
  }
  const auto done = std::make_shared<bool>(false);
  const auto copy = [=] {
    begin_copy(to, bytes);
    std::memcpy(to, from, bytes);
    const std::lock_guard lock(state().mutex);
    *done = true;
  };
  submit(*stream, copy, !pageable && are_peers(*target, *source) ? Work::peer_copy : Work::copy);
  if (!pageable || stream->capture) return cudaSuccess;
  call.wait([&] { return *done; }, "the stream does not reach the copy");
  return call.lost();
}

/// From pageable memory it returns when that can be written again, and what it copies may still be
/// under way: streams that do not block have no order with it.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  PARBENCH_CALL();
  if (kind != cudaMemcpyHostToDevice) return call.fail(cudaErrorNotSupported, "another direction");
  if (allocation_of(call.name(), to, bytes) == nullptr) {
    return call.fail(cudaErrorInvalidValue, "no memory of a device");
  }
  std::memset(to, nans, bytes);
  const auto copy = [to, bytes_to_copy = staged(from, bytes)] {
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [] { return !state().holds_copies; });
    std::memcpy(to, bytes_to_copy.data(), bytes_to_copy.size());
  };
  submit(default_stream(current_context()->device), copy, Work::copy);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  PARBENCH_CALL(stream);
  if (stream->context != current_context()) {
    return call.fail(cudaErrorInvalidResourceHandle, "the stream's context is not current");
  }
  if (bytes > 0 && allocation_of(call.name(), to, bytes) == nullptr) {
    return call.fail(cudaErrorInvalidValue, "no memory of a device");
  }
  submit(
      *stream, [=] { std::memset(to, value, bytes); }, Work::fill);
  return cudaSuccess;
}
