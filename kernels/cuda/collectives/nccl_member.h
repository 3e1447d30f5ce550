// NCCL's communicator of this process's GPU with those of other processes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_calls.h"

namespace parbench::cuda {

/// Returns the bytes of a new ncclUniqueId. Throws Error.
[[nodiscard]] std::vector<std::byte> make_nccl_id(const Nccl& nccl);

/// While it lives, a thread looks for errors of NCCL and for the loss of a rank (Joining::check),
/// and aborts the communicator then: what waits on the GPU for other ranks ends.
class NcclMember {
 public:
  struct Limits {
    std::chrono::duration<double> joining{120};
    std::chrono::duration<double> between_checks{0.1};
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

  /// Enqueues this rank's part in a collective over `bytes` at each rank. Throws as `check` does,
  /// and DeviceLost or Error.
  void enqueue(Collective collective, const NcclPart& part, std::size_t bytes);

  /// Throws what the thread has found.
  void check() const;

 private:
  void join(const Joining& joining, const Limits& limits);
  void wait_for_ranks(nccl::Result result, const char* what, const Joining& joining,
                      const Limits& limits) const;
  void watch(const Limits& limits);
  void look();
  void abort(nccl::Communicator communicator) const noexcept;
  [[nodiscard]] nccl::Result asynchronous_error(nccl::Communicator communicator) const;
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::size_t rank_;
  std::size_t size_;
  std::function<void()> check_ranks_;
  std::function<void()> enter_;
  nccl::Communicator joined_ = nullptr;  // that does not block
  nccl::Communicator used_ = nullptr;
  bool aborted_ = false;  // by the thread
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last
};

}  // namespace parbench::cuda
