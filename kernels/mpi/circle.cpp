// All-reduces by doubling and in a ring. A ring sends blocks of the data in chunks.
#include "kernels/mpi/circle.h"

#include <algorithm>
#include <utility>

namespace parbench::mpi {
namespace {

void add(float* sum, const float* other, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += other[i];
}

}  // namespace

struct Circle::Block {
  std::size_t first = 0;
  std::size_t count = 0;

  /// Returns the chunk with that index; empty after the last chunk.
  [[nodiscard]] Block chunk(std::size_t index, std::size_t size) const {
    const std::size_t at = std::min(index * size, count);
    return {first + at, std::min(size, count - at)};
  }
};

Circle::Circle(Calls& calls, MPI_Comm communicator, std::vector<int> ranks, int own_rank, int tag)
    : calls_(calls), communicator_(communicator), ranks_(std::move(ranks)), tag_(tag) {
  const auto own = std::ranges::find(ranks_, own_rank);
  if (own == ranks_.end()) throw Error("MPI: a rank is not in the set of its collective");
  own_ = static_cast<int>(own - ranks_.begin());
}

/// Returns the rank `distance` positions after this one; before it if `distance` is negative.
int Circle::at(int distance) const {
  return ranks_[static_cast<std::size_t>((own_ + distance + size()) % size())];
}

Circle::Block Circle::block_of(int position, std::size_t count) const {
  const auto index = static_cast<std::size_t>((position % size() + size()) % size());
  const std::size_t blocks = ranks_.size();
  const std::size_t first = index * count / blocks;
  return {first, (index + 1) * count / blocks - first};
}

Circle::Requests Circle::begin_exchange(int to, std::span<const float> sent, int from,
                                        std::span<float> received) {
  Requests requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  calls_.call("MPI_Irecv", [&] {
    return MPI_Irecv(received.data(), count_of(received.size()), MPI_FLOAT, at(from), tag_,
                     communicator_, &requests[0]);
  });
  calls_.call("MPI_Isend", [&] {
    return MPI_Isend(sent.data(), count_of(sent.size()), MPI_FLOAT, at(to), tag_, communicator_,
                     &requests[1]);
  });
  return requests;
}

void Circle::provide_inbox(std::size_t count) {
  if (inbox_.size() < count) inbox_.resize(count);
}

void Circle::all_reduce_by_doubling(std::span<float> data) {
  provide_inbox(data.size());
  for (int distance = 1; distance < size(); distance *= 2) {
    const int partner = (own_ ^ distance) - own_;
    Requests requests =
        begin_exchange(partner, data, partner, std::span(inbox_).first(data.size()));
    calls_.wait_for(requests, "MPI_Testall");
    add(data.data(), inbox_.data(), data.size());
  }
}

/// Sends block `sent` to the next rank and receives block `got` from the previous one, with up to
/// `in_flight` chunks on the way in each direction. `destination_of` returns the memory for a
/// received chunk, and `arrived` is called when the chunk is there.
template <class DestinationOf, class Arrived>
void Circle::pass_block(std::span<float> data, const Block& sent, const Block& got,
                        std::size_t chunk_size, std::size_t in_flight,
                        const DestinationOf& destination_of, const Arrived& arrived) {
  // Number of chunks of the largest block: all ranks send the same number of messages, of which
  // some may be empty.
  const std::size_t largest = (data.size() + ranks_.size() - 1) / ranks_.size();
  const std::size_t chunks = largest / chunk_size + (largest % chunk_size == 0 ? 0 : 1);
  std::array<Requests, max_in_flight> requests;
  for (std::size_t step = 0; step < chunks + in_flight - 1; ++step) {
    if (step < chunks) {
      const Block out = sent.chunk(step, chunk_size);
      requests[step % in_flight] =
          begin_exchange(1, data.subspan(out.first, out.count), -1,
                         destination_of(step, got.chunk(step, chunk_size)));
    }
    if (step + 1 < in_flight) continue;
    const std::size_t chunk = step + 1 - in_flight;
    calls_.wait_for(requests[chunk % in_flight], "MPI_Testall");
    arrived(chunk, got.chunk(chunk, chunk_size));
  }
}

std::span<float> Circle::reduce_scatter_in_ring(std::span<float> data, const Chunks& chunks) {
  const std::size_t room = std::min(data.size(), chunks.added);
  provide_inbox(chunks.in_flight * room);
  const auto inbox = [&](std::size_t chunk) {
    return std::span(inbox_).subspan(chunk % chunks.in_flight * room, room);
  };
  for (int round = 0; round + 1 < size(); ++round) {
    pass_block(
        data, block_of(own_ - round, data.size()), block_of(own_ - round - 1, data.size()),
        chunks.added, chunks.in_flight,
        [&](std::size_t chunk, const Block& part) { return inbox(chunk).first(part.count); },
        [&](std::size_t chunk, const Block& part) {
          add(data.data() + part.first, inbox(chunk).data(), part.count);
        });
  }
  const Block own = block_of(own_ + 1, data.size());
  return data.subspan(own.first, own.count);
}

void Circle::all_gather_in_ring(std::span<float> data, const Chunks& chunks) {
  for (int round = 0; round + 1 < size(); ++round) {
    pass_block(
        data, block_of(own_ + 1 - round, data.size()), block_of(own_ - round, data.size()),
        chunks.gathered, chunks.in_flight,
        [&](std::size_t, const Block& part) { return data.subspan(part.first, part.count); },
        [](std::size_t, const Block&) {});
  }
}

}  // namespace parbench::mpi
