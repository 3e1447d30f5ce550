// All-reduces by this project's own algorithms, over messages of MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "kernels/mpi/calls.h"

namespace parbench::mpi {

/// Sizes of the chunks of blocks that travel round a ring, in elements.
struct Chunks {
  std::size_t added = 0;     // of blocks that are added up
  std::size_t gathered = 0;  // of those that are complete
  std::size_t ahead = 1;     // chunks on their way at once
};
inline constexpr std::size_t max_ahead = 32;
/// Between ranks that share memory a chunk is added while it is in a cache.
inline constexpr Chunks in_memory{
    .added = std::size_t{1} << 16, .gathered = std::numeric_limits<std::size_t>::max(), .ahead = 4};
/// Over TCP chunks are eager messages (in Open MPI up to 64 KiB with its header). Longer ones wait
/// for the receiver's answer, which waits behind all data that is on its way to the sender, so that
/// a link carries data one way at a time.
inline constexpr Chunks on_network{
    .added = std::size_t{15} << 10, .gathered = std::size_t{15} << 10, .ahead = max_ahead};
static_assert(in_memory.ahead <= max_ahead && on_network.ahead <= max_ahead);

/// Ranks that exchange numbers, as one of them sees them. One thread at a time calls its functions.
class Circle {
 public:
  /// `tag`: of all its messages in the communicator. Throws Error unless `own_rank` is one of them.
  Circle(Calls& calls, MPI_Comm communicator, std::vector<int> ranks, int own_rank, int tag);

  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }

  /// Whether doubling works for this number of ranks: a power of two.
  [[nodiscard]] static bool can_double(std::size_t ranks) { return (ranks & (ranks - 1)) == 0; }
  /// Pairs exchange their sums, at twice the distance in each round. Both of a pair add the same
  /// two numbers, so that all ranks end with the same bits.
  void all_reduce_by_doubling(std::span<float> data);

  /// A reduce-scatter and an all-gather round the ring.
  void all_reduce_in_ring(std::span<float> data, const Chunks& chunks);

 private:
  using Requests = std::array<MPI_Request, 2>;
  struct Block;

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int at(int distance) const;
  [[nodiscard]] Block block_of(int position, std::size_t count) const;
  /// Begins to send numbers to the rank `to` positions after this one and, at once, to receive
  /// others from the rank `from` positions after it.
  [[nodiscard]] Requests begin_exchange(int to, std::span<const float> sent, int from,
                                        std::span<float> received);
  template <class DestinationOf, class Arrived>
  void pass_block(std::span<float> data, const Block& sent, const Block& got,
                  std::size_t chunk_size, std::size_t ahead, const DestinationOf& destination_of,
                  const Arrived& arrived);
  void provide_inbox(std::size_t count);

  Calls& calls_;
  MPI_Comm communicator_;
  std::vector<int> ranks_;
  int own_ = 0;  // position of this rank among them
  int tag_;
  std::vector<float> inbox_;  // of all-reduces, which follow each other
};

}  // namespace parbench::mpi
