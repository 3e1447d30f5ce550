// Memory maps with huge pages, and available memory as the system reports it.
#include "kernels/cpu/runtime/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/round_up.h"
#include "kernels/cpu/host/memory_grant.h"
#include "kernels/cpu/host/topology.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t page = 4096;
constexpr std::size_t reserve = std::size_t{256} << 20;
// minimum number of bytes per thread, so that starting the thread saves time
constexpr std::size_t min_touched = std::size_t{16} << 20;

std::size_t meminfo(const std::string& field) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::string unit;
  std::size_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == field) return kibibytes * 1024;
    std::getline(file, unit);
  }
  return std::numeric_limits<std::size_t>::max();
}

void try_to_bind(const std::vector<int>& cores) {
  try {
    bind_this_thread(cores);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): remote pages serve as well
  }
}

void touch_here(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t offset = 0; offset < bytes; offset += page) data[offset] = std::byte{0};
}

/// Touches memory with up to one thread per core. The calling thread touches the parts of threads
/// that could not be started: remote pages are better than a failed case.
void touch(std::byte* data, std::size_t bytes, const std::vector<int>& cores) {
  const std::size_t threads = std::clamp<std::size_t>(bytes / min_touched, 1, cores.size());
  const std::size_t part = round_up(bytes / threads, huge_page);
  std::vector<std::future<void>> touching;
  for (std::size_t first = 0; first < bytes; first += part) {
    const auto work = [=, &cores] {
      try_to_bind(cores);
      touch_here(data + first, std::min(part, bytes - first));
    };
    try {
      touching.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {
      touch_here(data + first, std::min(part, bytes - first));
    }
  }
}

}  // namespace

std::size_t available_memory() {
  const std::size_t free = std::min(meminfo("MemAvailable:"), control_group_memory().left);
  return free - std::min(free, reserve);
}

std::size_t total_memory() { return std::min(meminfo("MemTotal:"), control_group_memory().limit); }

namespace {

/// Reserves address space without physical memory, in whole huge pages if it is large enough.
/// Returns nothing if there is no address space left (`ulimit -v`).
std::optional<Buffer> try_reserve(std::size_t bytes, MemoryKind kind) {
  const std::size_t granule = bytes >= huge_page ? huge_page : page;
  const std::size_t rounded = round_up(bytes, granule);
  const std::size_t mapped = rounded + granule - page;
  void* address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return std::nullopt;
  auto* base = static_cast<std::byte*>(address);
  void* aligned = base;
  std::size_t space = mapped;
  std::align(granule, rounded, aligned, space);
  auto* data = static_cast<std::byte*>(aligned);
  if (kind != MemoryKind::pageable && granule == huge_page) madvise(data, rounded, MADV_HUGEPAGE);
  return Buffer(
      data, 0, kind, [base, mapped](std::byte*) { munmap(base, mapped); }, rounded);
}

/// Reserves `wished` bytes of address space; only `bytes` if that is not possible. Throws
/// OutOfMemory.
Buffer reserve_space(const std::string& owner, std::size_t bytes, std::size_t wished,
                     MemoryKind kind) {
  for (const std::size_t size : {std::max(wished, bytes), bytes}) {
    if (auto space = try_reserve(size, kind)) return std::move(*space);
  }
  throw OutOfMemory(
      fmt::format("{}: no address space for {} bytes more, of which the process may "
                  "have few (ulimit -v)",
                  owner, bytes));
}

}  // namespace

namespace {

/// Throws OutOfMemory if the machine has less than `more` bytes left. `held`: bytes that the buffer
/// already has, for the message. Reading the available memory takes longer than allocating a small
/// block, so small blocks are checked only once they add up to `checked_together` bytes. `reserve`
/// has room for these.
void check_left(const MemoryOwner& owner, std::size_t more, std::size_t held) {
  constexpr std::size_t checked_together = reserve / 16;
  static std::atomic<std::size_t> unchecked{0};
  if (more <= checked_together && unchecked.fetch_add(more) + more <= checked_together) return;
  unchecked = 0;
  const std::size_t left = available_memory();
  if (more > left) throw OutOfMemory(owner.name, held + more, held + left);
}

void extend(Buffer& buffer, const MemoryOwner& owner, std::size_t bytes, MemoryKind kind) {
  const std::size_t old = buffer.bytes();
  buffer.extend(bytes);
  if (kind == MemoryKind::pageable) return;
  const std::size_t first = old / page * page;  // rounded to pages, as madvise and mlock require
  touch(buffer.data() + first, bytes - first, owner.cores);
  // Page-locking keeps the pages in place; it is skipped if the process lacks the right.
  if (kind == MemoryKind::pinned) mlock(buffer.data() + first, bytes - first);
}

}  // namespace

void grow_memory(Buffer& buffer, const MemoryOwner& owner, std::size_t bytes, MemoryKind kind) {
  if (bytes <= buffer.bytes()) return;
  check_left(owner, bytes - buffer.bytes(), buffer.bytes());
  if (bytes > buffer.capacity()) buffer = reserve_space(owner.name, bytes, total_memory(), kind);
  extend(buffer, owner, bytes, kind);
}

Buffer map_memory(const MemoryOwner& owner, std::size_t bytes, MemoryKind kind) {
  if (bytes == 0) return {};
  check_left(owner, bytes, 0);
  Buffer buffer = reserve_space(owner.name, bytes, bytes, kind);
  extend(buffer, owner, bytes, kind);
  return buffer;
}

}  // namespace parbench::cpu
