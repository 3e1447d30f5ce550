// All-reduces of this project, over messages of MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "kernels/mpi/calls.h"

namespace parbench::mpi {

/// Sizes of the chunks in which a ring sends blocks, and their number.
struct Chunks {
  std::size_t added = 0;      // elements of a chunk in the reduce-scatter
  std::size_t gathered = 0;   // elements of a chunk in the all-gather
  std::size_t in_flight = 1;  // maximum number of chunks that are sent at the same time
};
inline constexpr std::size_t max_in_flight = 32;
/// For ranks that share memory: a chunk is added while it is still in a cache.
inline constexpr Chunks in_memory{.added = std::size_t{1} << 16,
                                  .gathered = std::numeric_limits<std::size_t>::max(),
                                  .in_flight = 4};
/// For TCP: chunks are eager messages (in Open MPI up to 64 KiB including the header). Longer
/// messages wait for the receiver's answer, which is queued after all data already on its way to
/// the sender, so that a link would carry data in one direction at a time.
inline constexpr Chunks on_network{
    .added = std::size_t{15} << 10, .gathered = std::size_t{15} << 10, .in_flight = max_in_flight};
static_assert(in_memory.in_flight <= max_in_flight && on_network.in_flight <= max_in_flight);

/// This rank's part in the all-reduces of a set of ranks. Used by one thread at a time.
class Circle {
 public:
  /// `tag`: tag of the messages that this object sends in `communicator`. Throws Error unless
  /// `ranks` contains `own_rank`.
  Circle(Calls& calls, MPI_Comm communicator, std::vector<int> ranks, int own_rank, int tag);

  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }

  /// Returns whether doubling works for this number of ranks: a power of two.
  [[nodiscard]] static bool can_double(std::size_t ranks) { return (ranks & (ranks - 1)) == 0; }
  /// All-reduce in which pairs exchange their sums, at twice the distance in each round. Both ranks
  /// of a pair add the same two numbers, so that all ranks get the same bits.
  void all_reduce_by_doubling(std::span<float> data);

  /// Reduce-scatter round the ring. Returns the block of `data` that has the sums of all ranks; the
  /// rest is undefined.
  std::span<float> reduce_scatter_in_ring(std::span<float> data, const Chunks& chunks);
  /// All-gather of these blocks round the ring.
  void all_gather_in_ring(std::span<float> data, const Chunks& chunks);
  void all_reduce_in_ring(std::span<float> data, const Chunks& chunks) {
    reduce_scatter_in_ring(data, chunks);
    all_gather_in_ring(data, chunks);
  }

 private:
  using Requests = std::array<MPI_Request, 2>;
  struct Block;

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int at(int distance) const;
  [[nodiscard]] Block block_of(int position, std::size_t count) const;
  /// Begins to send numbers to the rank `to` positions after this one, and to receive numbers from
  /// the rank `from` positions after this one.
  [[nodiscard]] Requests begin_exchange(int to, std::span<const float> sent, int from,
                                        std::span<float> received);
  template <class DestinationOf, class Arrived>
  void pass_block(std::span<float> data, const Block& sent, const Block& got,
                  std::size_t chunk_size, std::size_t in_flight,
                  const DestinationOf& destination_of, const Arrived& arrived);
  void provide_inbox(std::size_t count);

  Calls& calls_;
  MPI_Comm communicator_;
  std::vector<int> ranks_;
  int own_ = 0;  // index of this rank in ranks_
  int tag_;
  std::vector<float> inbox_;  // receive buffer of all-reduces, which run one after the other
};

}  // namespace parbench::mpi
