// Messages and collectives of the MPI library, and the all-reduces of this project.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/ranks/rank_link.h"
#include "kernels/mpi/calls.h"
#include "kernels/mpi/circle.h"
#include "kernels/mpi/shared_numbers.h"

namespace parbench::mpi {
namespace {

/// Maximum number of bytes of an MPI message. Longer messages are sent in pieces, because MPI
/// counts elements in an int.
constexpr std::size_t largest_piece = std::size_t{1} << 30;

std::string name_of_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

class MpiLink final : public RankLink {
 public:
  /// Requires an initialised MPI. `one_call`: only one thread at a time may call MPI.
  explicit MpiLink(bool one_call) : name_(name_of_library()), calls_(one_call) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    for (MPI_Comm* communicator : {&messages_, &barriers_, &collectives_, &sets_}) {
      require(MPI_Comm_dup(MPI_COMM_WORLD, communicator), "MPI_Comm_dup");
      MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN);
    }
    find_machines();
    shared_numbers_ = SharedNumbers::make(rank_, size_);
    // Ranks that do not share memory are on a network. `shared_numbers_` is also null for more than
    // 16 ranks of one machine; the chunks for a network suit them too.
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

  /// Queries the loaded library, which may differ from the library of the headers. Returns false if
  /// the headers have no such query.
  [[nodiscard]] bool reaches_gpus() const override {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }

  void check_with(std::function<void()> check) override { calls_.check_with(std::move(check)); }

  void send_message(int to, int tag, const std::byte* data, std::size_t bytes) override {
    in_pieces(bytes, [&](std::size_t first, int count) {
      calls_.complete("MPI_Isend", [&](MPI_Request* request) {
        return MPI_Isend(data + first, count, MPI_BYTE, to, tag, messages_, request);
      });
    });
  }

  void receive_message(int from, int tag, std::byte* data, std::size_t bytes) override {
    in_pieces(bytes, [&](std::size_t first, int count) {
      calls_.complete("MPI_Irecv", [&](MPI_Request* request) {
        return MPI_Irecv(data + first, count, MPI_BYTE, from, tag, messages_, request);
      });
    });
  }

  void wait_for_all() override {
    calls_.complete("MPI_Ibarrier",
                    [&](MPI_Request* request) { return MPI_Ibarrier(barriers_, request); });
  }

  void run(Collective collective, std::byte* data, std::size_t bytes,
           const std::byte* input) override {
    switch (collective) {
      case Collective::all_reduce:
        return all_reduce_of_library(collectives_, data, bytes);
      case Collective::all_gather:
        return calls_.complete("MPI_Iallgather", [&](MPI_Request* request) {
          return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, data, count_of(bytes / ranks()),
                                MPI_BYTE, collectives_, request);
        });
      case Collective::reduce_scatter:
        return reduce_scatter(data, bytes);
      case Collective::broadcast:
        return calls_.complete("MPI_Ibcast", [&](MPI_Request* request) {
          return MPI_Ibcast(data, count_of(bytes), MPI_BYTE, 0, collectives_, request);
        });
      case Collective::reduce:
        return calls_.complete("MPI_Ireduce", [&](MPI_Request* request) {
          const void* const source = rank_ == 0 ? MPI_IN_PLACE : data;
          return MPI_Ireduce(source, data, numbers(bytes), MPI_FLOAT, MPI_SUM, 0, collectives_,
                             request);
        });
      case Collective::all_to_all:
        return calls_.complete("MPI_Ialltoall", [&](MPI_Request* request) {
          const int block = count_of(bytes / ranks());
          return MPI_Ialltoall(input, block, MPI_BYTE, data, block, MPI_BYTE, collectives_,
                               request);
        });
      case Collective::send_recv:
        return send_to_next(data, bytes, input);
    }
  }

  [[nodiscard]] bool offers(RankAllReduce by, const RankSet& set,
                            std::size_t bytes) const override {
    switch (by) {
      case RankAllReduce::shared_memory:
        return shared_numbers_ != nullptr && is_all(set) && bytes <= max_shared_bytes;
      case RankAllReduce::doubling:
        return Circle::can_double(set.ranks.size());
      case RankAllReduce::hierarchical:
        return has_levels(by_machine(set));
      case RankAllReduce::library:
      case RankAllReduce::ring:
        break;
    }
    return true;
  }

  /// May block without calling `check`, because MPI_Comm_create_group is a blocking call.
  void prepare(const RankSet& set) override {
    const auto known = members_.find(set.tag);
    if (known != members_.end() && known->second.circle.ranks() == set.ranks) return;
    if (known != members_.end()) {
      release(known->second.communicator);
      members_.erase(known);
    }
    if (std::ranges::find(set.ranks, rank_) == set.ranks.end()) return;
    members_.emplace(set.tag, Members{.circle = Circle(calls_, sets_, set.ranks, rank_, set.tag),
                                      .communicator = make_communicator(set),
                                      .levels = make_levels(set)});
  }

  void add_up(RankAllReduce by, const RankSet& set, std::byte* data, std::size_t bytes) override {
    const bool is_possible = by == RankAllReduce::hierarchical ? prepared(set).levels.has_value()
                                                               : offers(by, set, bytes);
    if (!is_possible)
      throw Error("MPI: this algorithm of all-reduce is not available between these ranks");
    const std::span values(reinterpret_cast<float*>(data), bytes / sizeof(float));
    switch (by) {
      case RankAllReduce::library:
        return all_reduce_of_library(prepared(set).communicator, data, bytes);
      case RankAllReduce::shared_memory:
        return shared_numbers_->all_reduce(values.data(), values.size(), calls_.check());
      case RankAllReduce::doubling:
        return prepared(set).circle.all_reduce_by_doubling(values);
      case RankAllReduce::ring:
        return prepared(set).circle.all_reduce_in_ring(values, chunks_);
      case RankAllReduce::hierarchical:
        return all_reduce_by_levels(*prepared(set).levels, values);
    }
  }

 private:
  /// The two levels of a hierarchical all-reduce.
  struct Levels {
    Circle machine;  // the ranks of this rank's machine
    Circle network;  // the ranks with the same block, one of each machine
  };
  /// A prepared set of ranks that contains this rank.
  struct Members {
    Circle circle;
    MPI_Comm communicator = MPI_COMM_NULL;  // its ranks are those of the set
    std::optional<Levels> levels = {};
  };

  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size_); }
  [[nodiscard]] static int numbers(std::size_t bytes) { return count_of(bytes / sizeof(float)); }

  [[nodiscard]] bool is_all(const RankSet& set) const {
    for (std::size_t i = 0; i < set.ranks.size(); ++i) {
      if (set.ranks[i] != static_cast<int>(i)) return false;
    }
    return set.ranks.size() == ranks();
  }

  void find_machines() {
    MPI_Comm machine = MPI_COMM_NULL;
    require(MPI_Comm_split_type(collectives_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
            "MPI_Comm_split_type");
    int first = rank_;
    require(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, machine), "MPI_Allreduce");
    MPI_Comm_free(&machine);
    machine_of_.resize(ranks());
    require(MPI_Allgather(&first, 1, MPI_INT, machine_of_.data(), 1, MPI_INT, collectives_),
            "MPI_Allgather");
  }

  /// Returns the ranks of a set by the first rank of their machine.
  [[nodiscard]] std::map<int, std::vector<int>> by_machine(const RankSet& set) const {
    std::map<int, std::vector<int>> machines;
    for (const int rank : set.ranks) {
      machines[machine_of_[static_cast<std::size_t>(rank)]].push_back(rank);
    }
    return machines;
  }

  /// Returns whether several machines have the same number of ranks each, and more than one.
  [[nodiscard]] static bool has_levels(const std::map<int, std::vector<int>>& machines) {
    const std::size_t each = machines.begin()->second.size();
    return machines.size() > 1 && each > 1 && std::ranges::all_of(machines, [&](const auto& one) {
             return one.second.size() == each;
           });
  }

  [[nodiscard]] std::optional<Levels> make_levels(const RankSet& set) {
    const std::map<int, std::vector<int>> machines = by_machine(set);
    if (!has_levels(machines)) return std::nullopt;
    const std::vector<int>& own = machines.at(machine_of_[static_cast<std::size_t>(rank_)]);
    const auto position = std::ranges::find(own, rank_) - own.begin();
    std::vector<int> alike;
    for (const auto& [first, there] : machines) {
      alike.push_back(there[static_cast<std::size_t>(position)]);
    }
    return Levels{.machine = Circle(calls_, sets_, own, rank_, set.tag),
                  .network = Circle(calls_, sets_, alike, rank_, set.tag)};
  }

  void all_reduce_by_levels(Levels& levels, std::span<float> data) {
    const std::span<float> own = levels.machine.reduce_scatter_in_ring(data, in_memory);
    levels.network.all_reduce_in_ring(own, on_network);
    levels.machine.all_gather_in_ring(data, in_memory);
  }

  [[nodiscard]] Members& prepared(const RankSet& set) {
    const auto known = members_.find(set.tag);
    if (known != members_.end() && known->second.circle.ranks() == set.ranks) return known->second;
    throw Error("MPI: a set of ranks was not prepared for its all-reduce");
  }

  [[nodiscard]] MPI_Comm make_communicator(const RankSet& set) {
    if (is_all(set)) return collectives_;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    calls_.call("MPI_Comm_group", [&] { return MPI_Comm_group(sets_, &all); });
    calls_.call("MPI_Group_incl", [&] {
      return MPI_Group_incl(all, count_of(set.ranks.size()), set.ranks.data(), &some);
    });
    calls_.call("MPI_Comm_create_group",
                [&] { return MPI_Comm_create_group(sets_, some, set.tag, &made); });
    calls_.call("MPI_Comm_set_errhandler",
                [&] { return MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN); });
    calls_.call("MPI_Group_free", [&] { return MPI_Group_free(&some); });
    calls_.call("MPI_Group_free", [&] { return MPI_Group_free(&all); });
    return made;
  }

  void release(MPI_Comm communicator) {
    if (communicator == collectives_) return;
    calls_.call("MPI_Comm_free", [&] { return MPI_Comm_free(&communicator); });
  }

  void all_reduce_of_library(MPI_Comm communicator, std::byte* data, std::size_t bytes) {
    calls_.complete("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, data, numbers(bytes), MPI_FLOAT, MPI_SUM, communicator,
                            request);
    });
  }

  /// With MPI_IN_PLACE, MPI writes the result to the beginning of `data` on every rank; the
  /// function moves it to the block of this rank.
  void reduce_scatter(std::byte* data, std::size_t bytes) {
    const std::size_t block = bytes / ranks();
    calls_.complete("MPI_Ireduce_scatter_block", [&](MPI_Request* request) {
      return MPI_Ireduce_scatter_block(MPI_IN_PLACE, data, numbers(block), MPI_FLOAT, MPI_SUM,
                                       collectives_, request);
    });
    std::memmove(data + static_cast<std::size_t>(rank_) * block, data, block);
  }

  /// Sends to the next rank and receives from the previous one at the same time; MPI has no such
  /// collective.
  void send_to_next(std::byte* data, std::size_t bytes, const std::byte* input) {
    const int next = (rank_ + 1) % size_;
    const int before = (rank_ + size_ - 1) % size_;
    in_pieces(bytes, [&](std::size_t first, int count) {
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      calls_.call("MPI_Irecv", [&] {
        return MPI_Irecv(data + first, count, MPI_BYTE, before, 0, collectives_, &requests[0]);
      });
      calls_.call("MPI_Isend", [&] {
        return MPI_Isend(input + first, count, MPI_BYTE, next, 0, collectives_, &requests[1]);
      });
      calls_.wait_for(requests, "MPI_Testall");
    });
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

  std::string name_;
  int rank_ = 0;
  int size_ = 1;
  Calls calls_;
  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Comm barriers_ = MPI_COMM_NULL;
  MPI_Comm collectives_ = MPI_COMM_NULL;
  MPI_Comm sets_ = MPI_COMM_NULL;
  std::unique_ptr<SharedNumbers> shared_numbers_;  // null if the ranks cannot share memory
  Chunks chunks_ = in_memory;
  std::vector<int> machine_of_;     // first rank on the same machine, by rank
  std::map<int, Members> members_;  // by tag of the set
};

RankLink* make_link(std::string* problem) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    *problem = "MPI_Init_thread failed";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    *problem = name_of_library() + " supports calls from a single thread only; parbench needs " +
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
