// All-reduce in a shared memory window of MPI with a slot per rank.
#include "kernels/mpi/shared_numbers.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "kernels/mpi/waiting.h"

namespace parbench::mpi {
namespace {

constexpr std::size_t cache_line = 64;
constexpr int looks = 8;  // polls of a counter for each call of Waiting::pause

/// Returns whether a list of transports in an environment variable excludes shared memory, like
/// "tcp,self" or "^vader". `names`: transports through shared memory.
bool leaves_out(const char* variable, std::initializer_list<std::string_view> names) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) return false;
  const std::string_view list(value);
  const bool is_named = std::ranges::any_of(
      names, [&](std::string_view name) { return list.find(name) != std::string_view::npos; });
  return list.starts_with('^') ? is_named : !is_named;
}

/// Returns the network namespace of this process; 0 if it is unknown.
std::uint64_t network() {
  struct stat status {};
  return ::stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

bool may_share(int size) {
  if (size < 2 || size > max_sharing_ranks) return false;
  if (leaves_out("OMPI_MCA_btl", {"vader", "sm"})) return false;
  return !leaves_out("UCX_TLS", {"sm", "shm", "posix", "sysv", "all"});
}

bool is_same_on_all(std::uint64_t value) {
  std::array<std::uint64_t, 2> ends{value, ~value};
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return ends[0] == ~ends[1];
}

bool all_have(bool what) {
  int all = what ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace

/// The part of the window that one rank writes.
struct SharedNumbers::Slot {
  alignas(cache_line) std::atomic<std::uint64_t> begun;  // count of calls with complete numbers
  alignas(cache_line) std::array<std::array<float, max_count>, 2> numbers;
};

std::unique_ptr<SharedNumbers> SharedNumbers::make(int rank, int size) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  const bool is_one_network = is_same_on_all(network());
  if (!all_have(may_share(size)) || !is_one_network) return nullptr;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
  int here = 0;
  MPI_Comm_size(machine, &here);
  if (!all_have(here == size)) {
    MPI_Comm_free(&machine);
    return nullptr;
  }
  std::unique_ptr<SharedNumbers> made(new SharedNumbers(rank, size, machine));
  return all_have(!made->slots_.empty()) ? std::move(made) : nullptr;
}

SharedNumbers::SharedNumbers(int rank, int size, MPI_Comm machine)
    : rank_(rank), machine_(machine) {
  MPI_Comm_set_errhandler(machine_, MPI_ERRORS_RETURN);
  void* own = nullptr;
  const auto bytes = static_cast<MPI_Aint>(sizeof(Slot) + cache_line);
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, machine_, static_cast<void*>(&own),
                              &window_) != MPI_SUCCESS) {
    window_ = MPI_WIN_NULL;
    return;
  }
  for (int one = 0; one < size; ++one) {
    MPI_Aint room = 0;
    int unit = 0;
    void* memory = nullptr;
    MPI_Win_shared_query(window_, one, &room, &unit, static_cast<void*>(&memory));
    // The addresses of a slot in different processes differ by whole pages, so alignment skips the
    // same number of bytes in all of them.
    auto space = static_cast<std::size_t>(room);
    slots_.push_back(static_cast<Slot*>(std::align(alignof(Slot), sizeof(Slot), memory, space)));
  }
  new (slots_[static_cast<std::size_t>(rank_)]) Slot();
  MPI_Barrier(machine_);
}

SharedNumbers::~SharedNumbers() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  MPI_Comm_free(&machine_);
}

/// Waits until a rank has written its numbers of this call, and returns them.
const float* SharedNumbers::numbers_of(int rank, const std::function<void()>& check) const {
  const Slot& slot = *slots_[static_cast<std::size_t>(rank)];
  Waiting waiting;
  for (int look = 1; slot.begun.load(std::memory_order_acquire) < calls_; ++look) {
    if (look % looks != 0) {
      __builtin_ia32_pause();
      continue;
    }
    waiting.pause();
    if (waiting.should_check() && check) check();
  }
  return slot.numbers[calls_ % 2].data();
}

void SharedNumbers::all_reduce(float* data, std::size_t count, const std::function<void()>& check) {
  Slot& own = *slots_[static_cast<std::size_t>(rank_)];
  ++calls_;
  std::copy_n(data, count, own.numbers[calls_ % 2].data());
  own.begun.store(calls_, std::memory_order_release);
  const float* const first = numbers_of(0, check);
  const float* const second = numbers_of(1, check);
  for (std::size_t i = 0; i < count; ++i) data[i] = first[i] + second[i];
  for (int rank = 2; rank < static_cast<int>(slots_.size()); ++rank) {
    const float* const other = numbers_of(rank, check);
    for (std::size_t i = 0; i < count; ++i) data[i] += other[i];
  }
}

}  // namespace parbench::mpi
