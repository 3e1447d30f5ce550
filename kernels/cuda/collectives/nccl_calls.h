// The calls of NCCL by which a member takes part in a collective.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl_api.h"

namespace parbench::cuda {

/// A member's data in a collective.
struct NcclPart {
  std::byte* data = nullptr;
  const std::byte* input = nullptr;  // null: the collective works in place
  cudaStream_t stream = nullptr;
};

/// A communicator from the view of one member.
struct NcclMembership {
  nccl::Communicator communicator = nullptr;
  std::size_t member = 0;
  std::size_t size = 1;  // number of members
};

/// Launches one member's part of a collective over `bytes` at each member. Must be called within a
/// group. Returns the result of the first call that failed, otherwise success.
[[nodiscard]] nccl::Result launch(const nccl::Functions& functions, const NcclMembership& member,
                                  Collective collective, const NcclPart& part, std::size_t bytes);

}  // namespace parbench::cuda
