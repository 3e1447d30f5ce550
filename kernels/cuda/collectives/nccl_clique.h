// NCCL's communicators of all ranks in one process, and the groups of calls on them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"

namespace parbench::cuda {

class NcclClique {
 public:
  /// What a rank takes part with in a collective.
  struct Part {
    std::byte* data = nullptr;
    const std::byte* input = nullptr;  // null: the collective works in place
    cudaStream_t stream = nullptr;
  };

  /// `ordinals`: distinct GPUs by rank. NCCL makes its buffers now, and joins the GPUs at the first
  /// collective of each kind and size.
  NcclClique(std::shared_ptr<const Nccl> nccl, const std::vector<int>& ordinals);
  ~NcclClique();
  NcclClique(const NcclClique&) = delete;
  NcclClique& operator=(const NcclClique&) = delete;

  /// Enqueues a collective over `bytes` at each rank. Throws DeviceLost or Error, and Error for
  /// what went wrong before.
  void enqueue(Collective collective, std::span<const Part> parts, std::size_t bytes);

  /// Throws Error for what NCCL met beside the calls.
  void check() const;

 private:
  [[nodiscard]] nccl::Result launch(Collective collective, std::size_t rank, const Part& part,
                                    std::size_t bytes) const;
  [[nodiscard]] nccl::Result launch_all_to_all(std::size_t rank, const Part& part,
                                               std::size_t bytes) const;
  [[nodiscard]] nccl::Result launch_send_recv(std::size_t rank, const Part& part,
                                              std::size_t bytes) const;
  /// The first of any rank.
  [[nodiscard]] nccl::Result asynchronous_error() const;
  /// Throws where a call failed.
  void check_call(nccl::Result result, const char* expression, int line) const;

  std::shared_ptr<const Nccl> nccl_;
  std::vector<nccl::Communicator> ranks_;
};

}  // namespace parbench::cuda
