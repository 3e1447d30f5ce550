// Stands in for CUDA's header of this name (see cuda_runtime_api.h beside it).
#pragma once

#include <cstdint>

#include "kernels/base/bfloat16.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): CUDA's own names
struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 value) { return parbench::from_bf16(value.bits); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {parbench::to_bf16(value)}; }
inline std::uint16_t __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
