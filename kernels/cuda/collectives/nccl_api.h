// The part of NCCL's interface that the CUDA backend uses; it has been binary compatible since NCCL
// 2.0. Names, types and values are those of its documentation
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html). NCCL's own header is not
// used because it comes with 200 MB of library, which a build does not need.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

namespace parbench::cuda::nccl {

using Communicator = struct ncclComm*;  // ncclComm_t

// Enumerations as integers, since a library may return values other than the enumerators below.
using Result = int;  // ncclResult_t
inline constexpr Result success = 0;
inline constexpr Result in_progress = 7;

using DataType = int;  // ncclDataType_t
inline constexpr DataType uint8 = 1;
inline constexpr DataType float32 = 7;

using Reduction = int;  // ncclRedOp_t
inline constexpr Reduction sum = 0;

/// Colour of members that ncclCommSplit leaves out (NCCL_SPLIT_NOCOLOR); they get a null
/// communicator.
inline constexpr int no_color = -1;

/// Identifier that all members of a communicator have in common; passed by value.
struct UniqueId {
  std::array<char, 128> bytes{};  // NCCL_UNIQUE_ID_BYTES
};

/// ncclConfig_t of NCCL 2.14. Later versions append fields, and use defaults for them if `size` and
/// `version` are those of an earlier version.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;  // NCCL_API_MAGIC
  unsigned int version = 21400;
  int blocking = 1;
};

/// Functions of the library; null for functions that it lacks.
struct Functions {
  Result (*get_version)(int* version) = nullptr;
  const char* (*get_error_string)(Result) = nullptr;
  const char* (*get_last_error)(Communicator) = nullptr;  // since 2.13
  Result (*comm_init_all)(Communicator* communicators, int count, const int* devices) = nullptr;
  Result (*get_unique_id)(UniqueId*) = nullptr;
  Result (*comm_init_rank_config)(Communicator*, int ranks, UniqueId, int rank,
                                  Config*) = nullptr;  // since 2.14
  Result (*comm_split)(Communicator, int color, int key, Communicator* made,
                       Config*) = nullptr;  // since 2.18
  Result (*comm_destroy)(Communicator) = nullptr;
  Result (*comm_abort)(Communicator) = nullptr;
  Result (*comm_get_async_error)(Communicator, Result* error) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*all_reduce)(const void* send, void* receive, std::size_t count, DataType, Reduction,
                       Communicator, cudaStream_t) = nullptr;
  Result (*all_gather)(const void* send, void* receive, std::size_t send_count, DataType,
                       Communicator, cudaStream_t) = nullptr;
  Result (*reduce_scatter)(const void* send, void* receive, std::size_t receive_count, DataType,
                           Reduction, Communicator, cudaStream_t) = nullptr;
  Result (*broadcast)(const void* send, void* receive, std::size_t count, DataType, int root,
                      Communicator, cudaStream_t) = nullptr;
  Result (*reduce)(const void* send, void* receive, std::size_t count, DataType, Reduction,
                   int root, Communicator, cudaStream_t) = nullptr;
  // Since 2.7; may only be called within a group.
  Result (*send)(const void* from, std::size_t count, DataType, int peer, Communicator,
                 cudaStream_t) = nullptr;
  Result (*receive)(void* to, std::size_t count, DataType, int peer, Communicator,
                    cudaStream_t) = nullptr;
};

}  // namespace parbench::cuda::nccl
