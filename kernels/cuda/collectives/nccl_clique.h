// NCCL's communicators of all members in one process, and groups of calls on them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_calls.h"

namespace parbench::cuda {

class NcclClique {
 public:
  /// `ordinals`: distinct GPUs by member. NCCL allocates its buffers now, and connects the GPUs at
  /// the first collective of each kind and size.
  NcclClique(std::shared_ptr<const Nccl> nccl, const std::vector<int>& ordinals);
  ~NcclClique();
  NcclClique(const NcclClique&) = delete;
  NcclClique& operator=(const NcclClique&) = delete;

  /// Enqueues a collective over `bytes` at each member. Throws DeviceLost or Error, also for an
  /// earlier failure.
  void enqueue(Collective collective, std::span<const NcclPart> parts, std::size_t bytes);

  /// Throws Error for asynchronous failures of NCCL.
  void check() const;

 private:
  /// Returns the first asynchronous error of any member.
  [[nodiscard]] nccl::Result asynchronous_error() const;
  /// Throws if a call failed.
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::vector<nccl::Communicator> members_;
};

}  // namespace parbench::cuda
