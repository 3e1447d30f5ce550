// The calls of NCCL that a collective consists of at one rank.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl_api.h"

namespace parbench::cuda {

/// What a rank takes part with in a collective.
struct NcclPart {
  std::byte* data = nullptr;
  const std::byte* input = nullptr;  // null: the collective works in place
  cudaStream_t stream = nullptr;
};

struct NcclRank {
  nccl::Communicator communicator = nullptr;
  std::size_t rank = 0;
  std::size_t size = 1;  // ranks
};

/// Launches the part of one rank in a collective over `bytes` at each, inside of a group. Returns
/// the result of the first call that failed.
[[nodiscard]] nccl::Result launch(const nccl::Functions& functions, const NcclRank& rank,
                                  Collective collective, const NcclPart& part, std::size_t bytes);

}  // namespace parbench::cuda
