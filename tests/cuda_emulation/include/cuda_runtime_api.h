// Stands in for CUDA's header of this name where the host's compiler compiles the project's .cu
// files: the types and functions of CUDA that they use, and device code (device_functions.h).
#pragma once

#include <cstring>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): CUDA's own names

struct uint3 {
  unsigned int x, y, z;
};
struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
  constexpr dim3(unsigned int width = 1, unsigned int height = 1, unsigned int depth = 1)
      : x(width), y(height), z(depth) {}
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) {
  return {x, y, z, w};
}

#include "device_functions.h"  // on the types above

using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDefault };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                                   cudaMemcpyKind /*kind*/, cudaStream_t /*stream*/) {
  std::memcpy(destination, source, bytes);
  return cudaSuccess;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
