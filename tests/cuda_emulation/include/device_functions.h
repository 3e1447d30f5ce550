// The part of CUDA's device code that the project's .cu files use, for the host's compiler. Grids
// run on the calling thread (grid.cpp). Before it, a source includes CUDA's types: the vendor's
// (tests/cuda_stand_in), or those of cuda_runtime_api.h in this folder.
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
#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

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

/// The calling thread's place in its warp, and the warp's threads.
struct Lane {
  unsigned int number;
  unsigned int count;
};
Lane lane();

/// Where the calling thread leaves a value for the rest of its warp, until its next exchange but
/// one; `begin_exchange` goes on to the next such place.
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
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
