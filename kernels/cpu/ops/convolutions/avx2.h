// Vectors of eight floats, for sources whose loops run on processors with AVX2 and FMA only.
#pragma once

// Marks the functions that use these instructions. The rest of the program runs without them, so
// none of them is in a header that other sources compile.
#if defined(__x86_64__)
#define PARBENCH_AVX2 __attribute__((target("avx2,fma")))
#else
#define PARBENCH_AVX2
#endif

namespace parbench::cpu {

using Vector [[gnu::vector_size(32)]] = float;
/// A vector in memory, at the alignment of a float.
using StoredVector [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;

[[gnu::always_inline]] PARBENCH_AVX2 inline Vector load_vector(const float* address) {
  return *reinterpret_cast<const StoredVector*>(address);
}

[[gnu::always_inline]] PARBENCH_AVX2 inline void store_vector(float* address, Vector value) {
  *reinterpret_cast<StoredVector*>(address) = value;
}

}  // namespace parbench::cpu
