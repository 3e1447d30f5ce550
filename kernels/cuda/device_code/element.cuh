// One element of a tensor in device code: in memory f32 or bf16, the latter also as its bits; in
// arithmetic f32. For .cu files only.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace parbench::cuda {

__device__ inline float widened(float value) { return value; }
__device__ inline float widened(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline float widened(std::uint16_t value) {
  return __uint_as_float(static_cast<unsigned int>(value) << 16U);
}

/// To the nearest value of the type, ties to even.
__device__ inline void narrow(float value, float& element) { element = value; }
__device__ inline void narrow(float value, std::uint16_t& element) {
  element = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

}  // namespace parbench::cuda
