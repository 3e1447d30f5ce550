// NCCL's communicator of this process's GPU with those of other processes.
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

/// A communicator of all ranks, and communicators of some of them. While it lives, a thread looks
/// for errors of NCCL and for the loss of a rank (Joining::check), and aborts all communicators
/// then: what waits on the GPU for other ranks ends.
class NcclMember {
 public:
  struct Limits {
    std::chrono::duration<double> joining{120};
    std::chrono::duration<double> between_checks{0.1};
    /// To abort frees a communicator, so the thread first lets a call of NCCL return that uses it.
    /// A call that takes longer waits for the lost rank, and ends only when it is aborted.
    std::chrono::duration<double> leaving{5};
  };

  /// All ranks call it at once. Calls for the current device; `enter` makes it the current one of
  /// the thread that looks for errors. Throws Error, and what Joining::check throws. Ranks are
  /// joined without blocking, which can be given up; the communicator in use blocks, because a call
  /// that does not launches its kernels from a thread that NCCL makes for it.
  NcclMember(std::shared_ptr<const Nccl> nccl, const Joining& joining, std::function<void()> enter,
             const Limits& limits);
  ~NcclMember();
  NcclMember(const NcclMember&) = delete;
  NcclMember& operator=(const NcclMember&) = delete;

  /// Returns the communicator of all ranks.
  [[nodiscard]] const NcclMembership& all() const { return groups_.front(); }
  /// Returns a new communicator of some ranks in that order, which lives as long as the member; its
  /// `communicator` is null where this rank is left out. All ranks call it at once, with the same
  /// ranks. Throws as the constructor and `check` do.
  [[nodiscard]] const NcclMembership& split(std::span<const int> ranks);

  /// Enqueues this rank's part in a collective of one of these communicators over `bytes` at each
  /// rank. Throws as `check` does, and DeviceLost or Error.
  void enqueue(const NcclMembership& group, Collective collective, const NcclPart& part,
               std::size_t bytes);

  /// Throws what the thread has found.
  void check() const;

 private:
  /// Keeps the thread from aborting while this one calls NCCL. Throws what the thread has found.
  class Use;

  void join(const Joining& joining);
  [[nodiscard]] const NcclMembership& add_group(int color, std::size_t member, std::size_t size);
  void wait_for_ranks(nccl::Result result, const char* what);
  void watch();
  void look();
  void abort();
  [[nodiscard]] std::vector<nccl::Communicator> communicators() const;  // of this rank's groups
  [[nodiscard]] nccl::Result asynchronous_error(nccl::Communicator communicator) const;
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::function<void()> check_ranks_;
  std::function<void()> enter_;
  Limits limits_;
  int size_;                             // ranks
  int rank_;                             // this one
  nccl::Communicator joined_ = nullptr;  // that does not block
  nccl::Communicator made_ = nullptr;    // from it; NCCL writes it until all ranks are joined
  bool aborted_ = false;                 // by the thread
  mutable std::mutex mutex_;             // of what follows
  std::condition_variable changed_;
  std::deque<NcclMembership> groups_;  // that block; the first is that of all ranks
  bool is_used_ = false;               // by a call of NCCL
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last
};

}  // namespace parbench::cuda
