// Messages between ranks over MPI: non-blocking calls that are polled, so that a wait can end when
// the other side is lost.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/ranks/rank_link.h"
#include "kernels/mpi/shared_numbers.h"
#include "kernels/mpi/waiting.h"

namespace parbench::mpi {
namespace {

/// MPI counts elements in an int.
constexpr std::size_t largest_piece = std::size_t{1} << 30;

/// Numbers from which an all-reduce goes round the ring.
constexpr std::size_t ring_elements = std::size_t{1} << 14;

/// Sizes of the chunks of blocks that travel round the ring, in elements.
struct Chunks {
  std::size_t added = 0;     // of blocks that are added up
  std::size_t gathered = 0;  // of those that are complete
  std::size_t ahead = 1;     // chunks on their way at once
};
constexpr std::size_t max_ahead = 32;
/// Between ranks that share memory a chunk is added while it is in a cache.
constexpr Chunks in_memory{
    .added = std::size_t{1} << 16, .gathered = std::numeric_limits<std::size_t>::max(), .ahead = 4};
/// Over TCP chunks are eager messages (in Open MPI up to 64 KiB with its header). Longer ones wait
/// for the receiver's answer, which waits behind all data that is on its way to the sender, so that
/// a link carries data one way at a time.
constexpr Chunks on_network{
    .added = std::size_t{15} << 10, .gathered = std::size_t{15} << 10, .ahead = max_ahead};
static_assert(in_memory.ahead <= max_ahead && on_network.ahead <= max_ahead);

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string("MPI: ") + what + " failed: " + text.data());
}

std::string name_of_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

class MpiLink final : public RankLink {
 public:
  /// MPI has been initialised. `one_call`: only one thread at a time may call it.
  explicit MpiLink(bool one_call) : name_(name_of_library()), one_call_(one_call) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    for (MPI_Comm* communicator : {&messages_, &barriers_, &collectives_, &sets_}) {
      require(MPI_Comm_dup(MPI_COMM_WORLD, communicator), "MPI_Comm_dup");
      MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN);
    }
    everyone_ = circle_of_all();
    shared_numbers_ = SharedNumbers::make(rank_, size_);
    // There are none between more than 16 ranks of a machine either, which these chunks suit too.
    if (shared_numbers_ == nullptr) chunks_ = on_network;
  }
  ~MpiLink() override {
    shared_numbers_.reset();
    MPI_Finalize();
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  /// Asks the library that runs, which may be another than that of the headers.
  [[nodiscard]] bool reaches_gpus() const override {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }

  void check_with(std::function<void()> check) override { check_ = std::move(check); }

  void send(int to, int tag, const std::byte* data, std::size_t bytes) override {
    in_pieces(bytes, [&](std::size_t first, int count) {
      complete("MPI_Isend", [&](MPI_Request* request) {
        return MPI_Isend(data + first, count, MPI_BYTE, to, tag, messages_, request);
      });
    });
  }

  void receive(int from, int tag, std::byte* data, std::size_t bytes) override {
    in_pieces(bytes, [&](std::size_t first, int count) {
      complete("MPI_Irecv", [&](MPI_Request* request) {
        return MPI_Irecv(data + first, count, MPI_BYTE, from, tag, messages_, request);
      });
    });
  }

  void barrier() override {
    complete("MPI_Ibarrier",
             [&](MPI_Request* request) { return MPI_Ibarrier(barriers_, request); });
  }

  void all_reduce(const RankSet& set, std::byte* data, std::size_t bytes) override {
    all_reduce(circle_of(set), reinterpret_cast<float*>(data), bytes / sizeof(float));
  }

  void collective(Collective collective, std::byte* data, std::size_t bytes,
                  const std::byte* input) override {
    switch (collective) {
      case Collective::all_reduce:
        return all_reduce_of_all(reinterpret_cast<float*>(data), bytes / sizeof(float));
      case Collective::all_gather:
        return complete("MPI_Iallgather", [&](MPI_Request* request) {
          return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, data, count_of(bytes / ranks()),
                                MPI_BYTE, collectives_, request);
        });
      case Collective::reduce_scatter:
        return reduce_scatter(data, bytes);
      case Collective::broadcast:
        return complete("MPI_Ibcast", [&](MPI_Request* request) {
          return MPI_Ibcast(data, count_of(bytes), MPI_BYTE, 0, collectives_, request);
        });
      case Collective::reduce:
        return complete("MPI_Ireduce", [&](MPI_Request* request) {
          const void* const source = rank_ == 0 ? MPI_IN_PLACE : data;
          return MPI_Ireduce(source, data, numbers(bytes), MPI_FLOAT, MPI_SUM, 0, collectives_,
                             request);
        });
      case Collective::all_to_all:
        return complete("MPI_Ialltoall", [&](MPI_Request* request) {
          const int block = count_of(bytes / ranks());
          return MPI_Ialltoall(input, block, MPI_BYTE, data, block, MPI_BYTE, collectives_,
                               request);
        });
      case Collective::send_recv:
        return exchange(everyone_, 1,
                        {reinterpret_cast<const float*>(input), bytes / sizeof(float)}, -1,
                        {reinterpret_cast<float*>(data), bytes / sizeof(float)});
    }
  }

 private:
  /// Ranks that exchange numbers, as one of them sees them.
  struct Circle {
    std::vector<int> ranks;
    int own = 0;  // place of this rank among them
    MPI_Comm communicator = MPI_COMM_NULL;
    int tag = 0;
    std::vector<float> inbox = {};  // of collectives, which follow each other

    [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
    /// The rank so many places behind this one.
    [[nodiscard]] int at(int distance) const {
      return ranks[static_cast<std::size_t>((own + distance + size()) % size())];
    }
  };

  [[nodiscard]] Circle circle_of_all() const {
    Circle circle{.ranks = {}, .own = rank_, .communicator = collectives_};
    for (int rank = 0; rank < size_; ++rank) circle.ranks.push_back(rank);
    return circle;
  }

  /// Lanes may ask at once, each for a set of its own.
  [[nodiscard]] Circle& circle_of(const RankSet& set) {
    const std::lock_guard lock(circles_mutex_);
    const auto [known, is_new] = circles_.try_emplace(set.tag);
    Circle& circle = known->second;
    if (is_new || circle.ranks != set.ranks) {
      const auto own = std::ranges::find(set.ranks, rank_);
      if (own == set.ranks.end()) throw Error("MPI: a rank is not in the set of its collective");
      circle = {.ranks = set.ranks,
                .own = static_cast<int>(own - set.ranks.begin()),
                .communicator = sets_,
                .tag = set.tag};
    }
    return circle;
  }

  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size_); }

  [[nodiscard]] static int count_of(std::size_t count) {
    if (count <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      return static_cast<int>(count);
    }
    throw Error("MPI: a collective takes at most 2147483647 elements; use a smaller case");
  }
  [[nodiscard]] static int numbers(std::size_t bytes) { return count_of(bytes / sizeof(float)); }

  void all_reduce_of_all(float* data, std::size_t count) {
    if (shared_numbers_ != nullptr && count <= SharedNumbers::max_count) {
      return shared_numbers_->all_reduce(data, count, check_);
    }
    all_reduce(everyone_, data, count);
  }

  /// By this library's own algorithms: the non-blocking one of MPI is several times slower between
  /// ranks of one machine.
  void all_reduce(Circle& circle, float* data, std::size_t count) {
    const auto size = static_cast<unsigned>(circle.size());
    if (count < ring_elements && (size & (size - 1)) == 0) {
      all_reduce_by_doubling(circle, data, count);
    } else if (count >= ring_elements || circle.communicator != collectives_) {
      reduce_in_ring(circle, data, count);
      gather_in_ring(circle, data, count);
    } else {
      complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                              collectives_, request);
      });
    }
  }

  /// Of a power of two of ranks: pairs exchange their sums, at twice the distance in each round.
  /// Both of a pair add the same two numbers, so that all ranks end with the same bits.
  void all_reduce_by_doubling(Circle& circle, float* data, std::size_t count) {
    provide_inbox(circle, count);
    for (int distance = 1; distance < circle.size(); distance *= 2) {
      const int partner = (circle.own ^ distance) - circle.own;
      exchange(circle, partner, {data, count}, partner, {circle.inbox.data(), count});
      add(data, circle.inbox.data(), count);
    }
  }

  /// Numbers that lie one after the other.
  struct Block {
    std::size_t first = 0;
    std::size_t count = 0;

    /// Empty behind the last one.
    [[nodiscard]] Block chunk(std::size_t index, std::size_t size) const {
      const std::size_t at = std::min(index * size, count);
      return {first + at, std::min(size, count - at)};
    }
  };

  [[nodiscard]] static Block block_of(const Circle& circle, int place, std::size_t count) {
    const int size = circle.size();
    const auto index = static_cast<std::size_t>((place % size + size) % size);
    const std::size_t blocks = circle.ranks.size();
    const std::size_t first = index * count / blocks;
    return {first, (index + 1) * count / blocks - first};
  }

  /// Sends a block to the next rank and receives one from the rank before, in chunks of which
  /// several are on their way, so that a rank need not wait for each chunk of the one before.
  /// `place_of` returns where a chunk of what is received goes, and `arrived` is called with it.
  template <class PlaceOf, class Arrived>
  void pass_block(const Circle& circle, const float* data, const std::array<Block, 2>& sent_and_got,
                  std::size_t chunk_size, std::size_t count, const PlaceOf& place_of,
                  const Arrived& arrived) {
    const auto& [sent, got] = sent_and_got;
    // Of the largest block: all ranks must send as many messages, some of them empty.
    const std::size_t largest = (count + circle.ranks.size() - 1) / circle.ranks.size();
    const std::size_t chunks = largest / chunk_size + (largest % chunk_size == 0 ? 0 : 1);
    std::array<Requests, max_ahead> requests;
    for (std::size_t step = 0; step < chunks + chunks_.ahead - 1; ++step) {
      if (step < chunks) {
        const Block out = sent.chunk(step, chunk_size);
        requests[step % chunks_.ahead] =
            begin_exchange(circle, 1, {data + out.first, out.count}, -1,
                           place_of(step, got.chunk(step, chunk_size)));
      }
      if (step + 1 < chunks_.ahead) continue;
      const std::size_t chunk = step + 1 - chunks_.ahead;
      wait_for(requests[chunk % chunks_.ahead], "MPI_Testall");
      arrived(chunk, got.chunk(chunk, chunk_size));
    }
  }

  void reduce_in_ring(Circle& circle, float* data, std::size_t count) {
    const std::size_t room = std::min(count, chunks_.added);
    provide_inbox(circle, chunks_.ahead * room);
    const auto inbox = [&](std::size_t chunk) {
      return std::span(circle.inbox).subspan(chunk % chunks_.ahead * room, room);
    };
    for (int round = 0; round + 1 < circle.size(); ++round) {
      pass_block(
          circle, data,
          {block_of(circle, circle.own - round, count),
           block_of(circle, circle.own - round - 1, count)},
          chunks_.added, count,
          [&](std::size_t chunk, const Block& part) { return inbox(chunk).first(part.count); },
          [&](std::size_t chunk, const Block& part) {
            add(data + part.first, inbox(chunk).data(), part.count);
          });
    }
  }

  void gather_in_ring(const Circle& circle, float* data, std::size_t count) {
    for (int round = 0; round + 1 < circle.size(); ++round) {
      pass_block(
          circle, data,
          {block_of(circle, circle.own + 1 - round, count),
           block_of(circle, circle.own - round, count)},
          chunks_.gathered, count,
          [&](std::size_t, const Block& part) { return std::span(data + part.first, part.count); },
          [](std::size_t, const Block&) {});
    }
  }

  /// Sends numbers to the rank so many places behind this one and receives others from one, at
  /// once.
  void exchange(const Circle& circle, int to, std::span<const float> sent, int from,
                std::span<float> received) {
    Requests requests = begin_exchange(circle, to, sent, from, received);
    wait_for(requests, "MPI_Testall");
  }

  using Requests = std::array<MPI_Request, 2>;
  [[nodiscard]] Requests begin_exchange(const Circle& circle, int to, std::span<const float> sent,
                                        int from, std::span<float> received) {
    Requests requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    require(alone([&] {
              return MPI_Irecv(received.data(), count_of(received.size()), MPI_FLOAT,
                               circle.at(from), circle.tag, circle.communicator, &requests[0]);
            }),
            "MPI_Irecv");
    require(alone([&] {
              return MPI_Isend(sent.data(), count_of(sent.size()), MPI_FLOAT, circle.at(to),
                               circle.tag, circle.communicator, &requests[1]);
            }),
            "MPI_Isend");
    return requests;
  }

  static void provide_inbox(Circle& circle, std::size_t count) {
    if (circle.inbox.size() < count) circle.inbox.resize(count);
  }
  static void add(float* sum, const float* other, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += other[i];
  }

  /// With one buffer MPI leaves the block of each rank at the beginning.
  void reduce_scatter(std::byte* data, std::size_t bytes) {
    const std::size_t block = bytes / ranks();
    complete("MPI_Ireduce_scatter_block", [&](MPI_Request* request) {
      return MPI_Ireduce_scatter_block(MPI_IN_PLACE, data, numbers(block), MPI_FLOAT, MPI_SUM,
                                       collectives_, request);
    });
    std::memmove(data + static_cast<std::size_t>(rank_) * block, data, block);
  }

  template <class Piece>
  static void in_pieces(std::size_t bytes, const Piece& piece) {
    std::size_t first = 0;
    do {
      const std::size_t count = std::min(largest_piece, bytes - first);
      piece(first, static_cast<int>(count));
      first += count;
    } while (first < bytes);
  }

  template <class Call>
  int alone(const Call& call) {
    if (!one_call_) return call();
    const std::lock_guard lock(mutex_);
    return call();
  }

  /// Begins an operation and polls until it has ended.
  template <class Begin>
  void complete(const char* what, const Begin& begin) {
    std::array<MPI_Request, 1> request{MPI_REQUEST_NULL};
    require(alone([&] { return begin(request.data()); }), what);
    wait_for(request, what);
  }

  void wait_for(std::span<MPI_Request> requests, const char* what) {
    Waiting waiting;
    for (;;) {
      int done = 0;
      require(alone([&] {
                return MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                                   MPI_STATUSES_IGNORE);
              }),
              what);
      if (done != 0) return;
      waiting.pause();
      if (waiting.should_check() && check_) check_();
    }
  }

  std::string name_;
  bool one_call_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Comm barriers_ = MPI_COMM_NULL;
  MPI_Comm collectives_ = MPI_COMM_NULL;
  MPI_Comm sets_ = MPI_COMM_NULL;
  Circle everyone_;
  std::map<int, Circle> circles_;                  // by the tag of their set
  std::unique_ptr<SharedNumbers> shared_numbers_;  // null: none between these ranks
  Chunks chunks_ = in_memory;
  std::mutex circles_mutex_;
  std::function<void()> check_;
  std::mutex mutex_;
};

RankLink* make_link(std::string* problem) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    *problem = "MPI_Init_thread failed";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    *problem = name_of_library() + " lets one thread call it only; parbench needs " +
               "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE";
    MPI_Finalize();
    return nullptr;
  }
  return std::make_unique<MpiLink>(provided < MPI_THREAD_MULTIPLE).release();
}

}  // namespace
}  // namespace parbench::mpi

extern "C" parbench::RankLink* parbench_make_rank_link(std::string* problem) {
  try {
    return parbench::mpi::make_link(problem);
  } catch (const std::exception& error) {
    *problem = error.what();
    return nullptr;
  }
}
