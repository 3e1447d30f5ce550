// NCCL calls of one rank that make up a collective.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl_api.h"

namespace parbench::cuda {

/// A rank's data in a collective.
struct NcclPart {
  std::byte* data = nullptr;
  const std::byte* input = nullptr;  // null: the collective works in place
  cudaStream_t stream = nullptr;
};

/// A communicator as one of its members has it.
struct NcclMembership {
  nccl::Communicator communicator = nullptr;
  std::size_t member = 0;
  std::size_t size = 1;  // members
};

/// Launches the part of one member in a collective over `bytes` at each, inside of a group. Returns
/// the result of the first call that failed.
[[nodiscard]] nccl::Result launch(const nccl::Functions& functions, const NcclMembership& member,
                                  Collective collective, const NcclPart& part, std::size_t bytes);

}  // namespace parbench::cuda
