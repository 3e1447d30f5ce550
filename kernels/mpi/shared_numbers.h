// All-reduces of few numbers between ranks of one machine, by memory that they share: a message
// passing library takes longer to find a message than the numbers to arrive.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench::mpi {

/// Every rank writes its numbers to a slot of its own and reads those of the others when their
/// counts say that they are there. Each has two such slots in turn: where all others have begun a
/// call, they have read all of the one before.
class SharedNumbers {
 public:
  static constexpr std::size_t max_count = max_shared_bytes / sizeof(float);

  /// All ranks call it. Null where they are on several machines, or in network namespaces that
  /// stand for them, where they are too many, or where the settings of MPI keep messages from
  /// shared memory.
  [[nodiscard]] static std::unique_ptr<SharedNumbers> make(int rank, int size);

  ~SharedNumbers();
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  /// Every rank's numbers become the sum of all, added in the order of the ranks, so that all get
  /// the same bits. `check` is called from time to time while it waits, and may throw.
  void all_reduce(float* data, std::size_t count, const std::function<void()>& check);

 private:
  struct Slot;
  SharedNumbers(int rank, int size, MPI_Comm machine);
  [[nodiscard]] const float* numbers_of(int rank, const std::function<void()>& check) const;

  int rank_;
  MPI_Comm machine_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Slot*> slots_;  // by rank; empty: there is no such memory
  std::uint64_t calls_ = 0;
};

}  // namespace parbench::mpi
