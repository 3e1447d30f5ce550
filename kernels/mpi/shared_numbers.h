// All-reduces of few numbers between ranks of one machine, in shared memory. For few numbers a
// message passing library spends more time on finding a message than on transferring it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench::mpi {

/// All-reduces through shared memory. Every rank writes its numbers to a slot of its own, and reads
/// the slots of the others once their counters show that the numbers are complete. A slot has two
/// places for numbers, used in turn: when all other ranks have begun a call, they have read all
/// numbers of the previous one.
class SharedNumbers {
 public:
  static constexpr std::size_t max_count = max_shared_bytes / sizeof(float);

  /// Makes the shared memory; all ranks call it. Returns null on all ranks if they are on several
  /// machines (or in different network namespaces), if there are fewer than 2 or more than
  /// `max_sharing_ranks`, if settings of MPI disable shared memory, or if it cannot be allocated.
  [[nodiscard]] static std::unique_ptr<SharedNumbers> make(int rank, int size);

  ~SharedNumbers();
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  /// Sums the numbers of all ranks in the order of the ranks, so that all get the same bits.
  /// `check` is called from time to time during waits, and may throw.
  void all_reduce(float* data, std::size_t count, const std::function<void()>& check);

 private:
  struct Slot;
  SharedNumbers(int rank, int size, MPI_Comm machine);
  [[nodiscard]] const float* numbers_of(int rank, const std::function<void()>& check) const;

  int rank_;
  MPI_Comm machine_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Slot*> slots_;  // by rank; empty if the window could not be allocated
  std::uint64_t calls_ = 0;
};

}  // namespace parbench::mpi
