// Messages between ranks over MPI: non-blocking calls that are polled, so that a wait can end when
// the other side is lost.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/rank_link.h"

namespace parbench::mpi {
namespace {

/// MPI counts elements in an int.
constexpr std::size_t largest_piece = std::size_t{1} << 30;

/// Numbers from which an all-reduce goes round the ring, and those of a chunk there.
constexpr std::size_t ring_elements = std::size_t{1} << 14;
constexpr std::size_t chunk_elements = std::size_t{1} << 16;

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string("MPI: ") + what + " failed: " + text.data());
}

/// How a thread waits between polls: at first it keeps its core, then it gives it to any other
/// thread, and after a while it sleeps, when a wake-up costs little beside what it has waited.
class Waiting {
 public:
  void pause() {
    ++polls_;
    if (polls_ < keeping) return;
    if (!begin_) begin_ = Clock::now();
    if (polls_ % checking != 0 || Clock::now() - *begin_ < yielding) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(sleep);
    }
  }
  [[nodiscard]] bool should_check() const { return polls_ % checking == 0; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int keeping = 2000;
  static constexpr int checking = 16;
  static constexpr auto yielding = std::chrono::milliseconds(20);
  static constexpr auto sleep = std::chrono::microseconds(50);

  int polls_ = 0;
  std::optional<Clock::time_point> begin_;
};

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
    for (MPI_Comm* communicator : {&messages_, &barriers_, &collectives_}) {
      require(MPI_Comm_dup(MPI_COMM_WORLD, communicator), "MPI_Comm_dup");
      MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN);
    }
  }
  ~MpiLink() override { MPI_Finalize(); }
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

  void collective(Collective collective, std::byte* data, std::size_t bytes,
                  const std::byte* input) override {
    switch (collective) {
      case Collective::all_reduce:
        return all_reduce(reinterpret_cast<float*>(data), bytes / sizeof(float));
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
        return exchange(next(), {reinterpret_cast<const float*>(input), bytes / sizeof(float)},
                        before(), {reinterpret_cast<float*>(data), bytes / sizeof(float)});
    }
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size_); }

  [[nodiscard]] static int count_of(std::size_t count) {
    if (count <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      return static_cast<int>(count);
    }
    throw Error("MPI: a collective takes at most 2147483647 elements; use a smaller case");
  }
  [[nodiscard]] static int numbers(std::size_t bytes) { return count_of(bytes / sizeof(float)); }

  /// By this library's own algorithms: the non-blocking one of MPI is several times slower between
  /// ranks of one machine.
  void all_reduce(float* data, std::size_t count) {
    if (count >= ring_elements) {
      reduce_in_ring(data, count);
      gather_in_ring(data, count);
    } else if ((size_ & (size_ - 1)) == 0) {
      all_reduce_by_doubling(data, count);
    } else {
      complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                              collectives_, request);
      });
    }
  }

  /// Of a power of two of ranks: pairs exchange their sums, at twice the distance in each round.
  /// Both of a pair add the same two numbers, so that all ranks end with the same bits.
  void all_reduce_by_doubling(float* data, std::size_t count) {
    provide_inbox(count);
    for (int distance = 1; distance < size_; distance *= 2) {
      const int other = rank_ ^ distance;
      exchange(other, {data, count}, other, {inbox_.data(), count});
      add(data, inbox_.data(), count);
    }
  }

  /// The block of a rank: first and number of its elements.
  [[nodiscard]] std::pair<std::size_t, std::size_t> block_of(int rank, std::size_t count) const {
    const auto index = static_cast<std::size_t>((rank % size_ + size_) % size_);
    const std::size_t first = index * count / ranks();
    return {first, (index + 1) * count / ranks() - first};
  }

  /// Chunk by chunk, so that what has arrived is added while it is in a cache.
  void reduce_in_ring(float* data, std::size_t count) {
    provide_inbox(chunk_elements);
    for (int round = 0; round + 1 < size_; ++round) {
      const auto [sent_first, sent_count] = block_of(rank_ - round, count);
      const auto [first, got_count] = block_of(rank_ - round - 1, count);
      for (std::size_t at = 0; at < std::max(sent_count, got_count); at += chunk_elements) {
        const std::size_t sends = std::min(chunk_elements, sent_count - std::min(at, sent_count));
        const std::size_t gets = std::min(chunk_elements, got_count - std::min(at, got_count));
        exchange(next(), {data + sent_first + at, sends}, before(), {inbox_.data(), gets});
        add(data + first + at, inbox_.data(), gets);
      }
    }
  }

  void gather_in_ring(float* data, std::size_t count) {
    for (int round = 0; round + 1 < size_; ++round) {
      const auto [sent_first, sent_count] = block_of(rank_ + 1 - round, count);
      const auto [first, got_count] = block_of(rank_ - round, count);
      exchange(next(), {data + sent_first, sent_count}, before(), {data + first, got_count});
    }
  }

  /// Sends numbers to one rank and receives others from one, at once.
  void exchange(int to, std::span<const float> sent, int from, std::span<float> received) {
    constexpr int tag = 0;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    require(alone([&] {
              return MPI_Irecv(received.data(), count_of(received.size()), MPI_FLOAT, from, tag,
                               collectives_, &requests[0]);
            }),
            "MPI_Irecv");
    require(alone([&] {
              return MPI_Isend(sent.data(), count_of(sent.size()), MPI_FLOAT, to, tag, collectives_,
                               &requests[1]);
            }),
            "MPI_Isend");
    wait_for(requests, "MPI_Testall");
  }

  void provide_inbox(std::size_t count) {
    if (inbox_.size() < count) inbox_.resize(count);
  }
  static void add(float* sum, const float* other, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += other[i];
  }
  [[nodiscard]] int next() const { return (rank_ + 1) % size_; }
  [[nodiscard]] int before() const { return (rank_ + size_ - 1) % size_; }

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
  std::function<void()> check_;
  std::vector<float> inbox_;  // of collectives, which follow each other
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
