// Messages and collectives between the ranks of a run: processes on one or several machines.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/communicator.h"

namespace parbench {

/// Ranks that take part in a collective, in order. Sets that share two ranks and may be used at the
/// same time have different tags, below `RankLink::tag_count`.
struct RankSet {
  std::vector<int> ranks;
  int tag = 0;

  /// Returns the set of all ranks of a run with `size` ranks.
  [[nodiscard]] static RankSet all(int size);
};

/// How an all-reduce between ranks is done:
/// - library: by the message passing library's own collective.
/// - shared_memory: every rank reads the numbers of all ranks from shared memory and adds them.
/// - doubling: pairs exchange their sums, at twice the distance in each round.
/// - ring: rank r sends to rank r + 1 only, in chunks that are added as they arrive.
/// - hierarchical: the ranks of each machine reduce-scatter in a ring; ranks with the same block on
///   all machines all-reduce it in a ring; the ranks of each machine all-gather. With S bytes, p
///   ranks and m machines, a machine sends 2·S·(m − 1)/m over its network, in a ring of all ranks
///   2·S·(p − 1)/p or more.
enum class RankAllReduce { library, shared_memory, doubling, ring, hierarchical };
inline constexpr std::array<RankAllReduce, 5> all_rank_all_reduces{
    RankAllReduce::library, RankAllReduce::shared_memory, RankAllReduce::doubling,
    RankAllReduce::ring, RankAllReduce::hierarchical};
/// Limits of an all-reduce in shared memory: bytes per rank, and number of ranks.
inline constexpr std::size_t max_shared_bytes = std::size_t{8} << 10;
inline constexpr int max_sharing_ranks = 16;  // each reads the arrays of all others

/// Returns "mpi", "shared-memory", "doubling", "rank-ring" or "hierarchical".
[[nodiscard]] std::string_view name_of(RankAllReduce by);

/// Sums the time during which at least one thread is between `enter` and `leave`.
class Occupancy {
 public:
  void enter();
  void leave();
  /// Returns the seconds that were added since the last call of `take`.
  [[nodiscard]] double take();

 private:
  std::mutex mutex_;
  int threads_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::duration<double> sum_{0};
};

/// Messages and collectives of a message passing library (MPI), and the all-reduces of
/// RankAllReduce. Several threads may call the functions at the same time. They return once the
/// caller's memory may be reused, and throw what the function of `check_with` throws.
class RankLink {
 public:
  virtual ~RankLink() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  // "Open MPI 4.1.4"
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Returns whether `send` and `receive` can access GPU memory.
  [[nodiscard]] virtual bool reaches_gpus() const { return false; }

  /// Sets a function that is called from time to time during a wait. It throws if the awaited rank
  /// has failed.
  virtual void check_with(std::function<void()> check) = 0;

  /// Tags are below `tag_count`. Sender and receiver pass the same tag and size; messages with the
  /// same tag arrive in the order in which they were sent.
  static constexpr int tag_count = 1 << 15;
  void send(int to, int tag, const std::byte* data, std::size_t bytes);
  void receive(int from, int tag, std::byte* data, std::size_t bytes);

  /// Waits until all ranks have called it.
  void barrier();

  /// Runs the library's collective of all ranks; see `Collective`. All ranks call collectives in
  /// the same order. `input`: null for a collective in place, otherwise as many bytes as `data`.
  void collective(Collective collective, std::byte* data, std::size_t bytes,
                  const std::byte* input);

  /// Returns whether the ranks of a set can do an all-reduce of `bytes` in that way. The answer is
  /// the same on all ranks, including ranks outside of the set. The library's all-reduce is always
  /// available.
  [[nodiscard]] virtual bool offers(RankAllReduce by, const RankSet& set,
                                    std::size_t bytes) const = 0;

  /// Prepares a set for `all_reduce`; replaces a set with the same tag. All ranks of the run call
  /// it in the same order, including ranks outside of the set, while no collective runs. May block
  /// without calling `check`.
  virtual void prepare(const RankSet& set) = 0;

  /// Sums `data` (f32) over the ranks of a set; all get the sum. All of these ranks call it, in the
  /// same order for one set; sets with different tags do not wait for each other. Requires a
  /// prepared set. Throws Error if `offers` returns false.
  void all_reduce(RankAllReduce by, const RankSet& set, std::byte* data, std::size_t bytes);

  struct Times {
    double waits = 0;  // time with at least one thread in a message or collective
    double barrier = 0;
  };
  /// Returns the times in seconds since the last call of `take_times`.
  [[nodiscard]] Times take_times() { return {waits_.take(), barrier_.take()}; }

 private:
  virtual void send_message(int to, int tag, const std::byte* data, std::size_t bytes) = 0;
  virtual void receive_message(int from, int tag, std::byte* data, std::size_t bytes) = 0;
  virtual void wait_for_all() = 0;
  virtual void run(Collective collective, std::byte* data, std::size_t bytes,
                   const std::byte* input) = 0;
  virtual void add_up(RankAllReduce by, const RankSet& set, std::byte* data, std::size_t bytes) = 0;

  Occupancy waits_;
  Occupancy barrier_;
};

/// Entry point of the library of ranks, which is loaded at run time. Returns null if the message
/// passing library lacks a feature; `problem` receives the reason.
using MakeRankLink = RankLink* (*)(std::string* problem);
inline constexpr const char* make_rank_link_name = "parbench_make_rank_link";

}  // namespace parbench
