// Stands in for CUDA's header of this name where the host's compiler compiles the project's .cu
// files: the part of CUDA that they use. Grids run on the calling thread (grid.cpp).
//
// Differences to a GPU: blocks run one after another, so nothing is found that depends on two
// blocks at once; shared memory keeps what the previous block left in it; a warp's threads meet at
// barriers and shuffles only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): CUDA's own names
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

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

inline uint3 threadIdx;
inline uint3 blockIdx;
inline dim3 blockDim;
inline dim3 gridDim;

using std::max;
using std::min;
inline float __uint_as_float(unsigned int bits) { return std::bit_cast<float>(bits); }
inline unsigned int __float_as_uint(float value) { return std::bit_cast<unsigned int>(value); }

namespace parbench::emulation {

/// Runs `thread` for every thread of a grid, with the variables above set. Ends the process, with
/// the reason, where threads of a block or warp do not meet at the same barrier.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread);

/// A barrier in the source.
struct Barrier {
  const char* file;
  int line;
};

/// For the threads of a running grid: return when all of the block, or of the warp, have come.
void meet_block(Barrier barrier);
void meet_warp(Barrier barrier);

constexpr unsigned int warp_size = 32;

/// The calling thread's lane in its warp, and the warp's threads.
struct Lane {
  unsigned int number;
  unsigned int count;
};
Lane lane();

/// Where the calling thread leaves a value for the rest of its warp, until its next exchange but
/// one; `begin_exchange` goes on to the next such slot.
void begin_exchange();
std::uint64_t& exchanged(unsigned int lane);

/// Ends the process.
[[noreturn]] void refuse(const char* reason);

/// The value that the thread `source` of the warp passes; the own one where there is no such
/// thread.
template <class Value>
Value shuffle(unsigned int mask, Value value, unsigned int source, Barrier barrier) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(std::uint64_t));
  if (mask != 0xFFFFFFFFU) refuse("only shuffles of whole warps are emulated");
  begin_exchange();
  std::memcpy(&exchanged(lane().number), &value, sizeof value);
  meet_warp(barrier);
  if (source < lane().count) std::memcpy(&value, &exchanged(source), sizeof value);
  return value;
}

}  // namespace parbench::emulation

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  parbench::emulation::meet_block({file, line});
}
inline void __syncwarp(unsigned int /*mask*/ = 0xFFFFFFFFU, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  parbench::emulation::meet_warp({file, line});
}
inline void __threadfence() {}
template <class Value>
Value __ldcg(const Value* address) {
  return *address;
}
template <class Value>
Value __shfl_down_sync(unsigned int mask, Value value, unsigned int distance,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return parbench::emulation::shuffle(mask, value, parbench::emulation::lane().number + distance,
                                      {file, line});
}
template <class Value>
Value __shfl_xor_sync(unsigned int mask, Value value, unsigned int bits,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return parbench::emulation::shuffle(mask, value, parbench::emulation::lane().number ^ bits,
                                      {file, line});
}
inline unsigned int __ballot_sync(unsigned int mask, bool flag, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  unsigned int bits = flag ? 1U << parbench::emulation::lane().number : 0U;
  for (unsigned int distance = 1; distance < parbench::emulation::warp_size; distance *= 2) {
    bits |= __shfl_xor_sync(mask, bits, distance, file, line);
  }
  return bits;
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline unsigned int atomicInc(unsigned int* counter, unsigned int last) {
  const unsigned int old = *counter;
  *counter = old >= last ? 0 : old + 1;
  return old;
}

using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDefault, cudaMemcpyHostToDevice };
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind /*kind*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                                   cudaMemcpyKind /*kind*/, cudaStream_t /*stream*/) {
  std::memcpy(destination, source, bytes);
  return cudaSuccess;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
