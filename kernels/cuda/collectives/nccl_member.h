// NCCL's communicators between this process's GPU and those of other processes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_calls.h"

namespace parbench::cuda {

/// Returns the bytes of a new ncclUniqueId. Throws Error.
[[nodiscard]] std::vector<std::byte> make_nccl_id(const Nccl& nccl);

/// A communicator of all ranks, and communicators of subsets. A thread watches for errors of NCCL
/// and for lost ranks (Joining::check). If it finds any, it aborts all communicators, so that GPU
/// work waiting for other ranks ends.
class NcclMember {
 public:
  struct Limits {
    std::chrono::duration<double> joining{120};
    std::chrono::duration<double> between_checks{0.1};
    /// Time that an NCCL call in progress gets to return before an abort, which frees the
    /// communicator that the call uses. A call that takes longer is assumed to wait for a lost
    /// rank; the abort ends it.
    std::chrono::duration<double> leaving{5};
  };

  /// Must be called by all ranks at the same time. The watching thread calls `enter` to make this
  /// rank's GPU current. Throws DeviceLost, Error, and the exceptions of Joining::check. Ranks are
  /// joined with a non-blocking communicator, so that joining can be abandoned. Collectives use
  /// blocking communicators, because a non-blocking one launches kernels from a thread of NCCL.
  NcclMember(std::shared_ptr<const Nccl> nccl, const Joining& joining, std::function<void()> enter,
             const Limits& limits);
  ~NcclMember();
  NcclMember(const NcclMember&) = delete;
  NcclMember& operator=(const NcclMember&) = delete;

  /// Returns the communicator of all ranks.
  [[nodiscard]] const NcclMembership& all() const { return groups_.front(); }
  /// Returns a new communicator of `ranks` in that order, which is owned by this object; its
  /// `communicator` is null if this rank is not among them. Must be called by all ranks at the same
  /// time, with the same `ranks`. Throws as the constructor and `check` do.
  [[nodiscard]] const NcclMembership& split(std::span<const int> ranks);

  /// Enqueues this rank's part of a collective over `bytes` at each member. `group`: a result of
  /// `all` or `split`. Throws as `check` does, and DeviceLost or Error.
  void enqueue(const NcclMembership& group, Collective collective, const NcclPart& part,
               std::size_t bytes);

  /// Throws the error that the watching thread has found.
  void check() const;

 private:
  /// Scope of a call of NCCL: an abort waits for its end, at most for Limits::leaving. The
  /// constructor throws the error that the watching thread has found.
  class Use;

  void join(const Joining& joining);
  [[nodiscard]] const NcclMembership& add_group(int color, std::size_t member, std::size_t size);
  void wait_for_ranks(nccl::Result result, const char* what);
  void watch();
  void look();
  void abort();
  // communicators of the groups that contain this rank
  [[nodiscard]] std::vector<nccl::Communicator> communicators() const;
  [[nodiscard]] nccl::Result asynchronous_error(nccl::Communicator communicator) const;
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::function<void()> check_ranks_;
  std::function<void()> enter_;
  Limits limits_;
  int size_;  // number of ranks
  int rank_;
  nccl::Communicator joined_ = nullptr;  // non-blocking communicator of all ranks
  // communicator that is being split from joined_; NCCL may set it until all ranks have joined
  nccl::Communicator made_ = nullptr;
  bool aborted_ = false;      // whether the watching thread has aborted
  mutable std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<NcclMembership> groups_;  // blocking communicators; the first is that of all ranks
  int uses_ = 0;                       // number of threads in a call of NCCL
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // the watching thread, which uses the other members
};

}  // namespace parbench::cuda
