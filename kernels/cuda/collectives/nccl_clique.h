// Collectives by NCCL whose members are all in this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_calls.h"

namespace parbench::cuda {

/// The communicators of all members.
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

  /// Throws DeviceLost or Error for asynchronous failures of NCCL.
  void check() const;

 private:
  /// Returns the asynchronous error of the first member that has one, otherwise success.
  [[nodiscard]] nccl::Result asynchronous_error() const;
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::vector<nccl::Communicator> members_;
};

}  // namespace parbench::cuda
