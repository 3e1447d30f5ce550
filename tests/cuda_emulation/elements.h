// Elements of tensors of f32 or bf16, for plain loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/bfloat16.h"
#include "kernels/base/tensor.h"

namespace parbench::emulation {

[[nodiscard]] inline float element(const std::byte* tensor, DType dtype, std::int64_t index) {
  if (dtype == DType::f32) return reinterpret_cast<const float*>(tensor)[index];
  return from_bf16(reinterpret_cast<const std::uint16_t*>(tensor)[index]);
}

inline void set_element(std::byte* tensor, DType dtype, std::int64_t index, float value) {
  if (dtype == DType::f32) {
    reinterpret_cast<float*>(tensor)[index] = value;
  } else {
    reinterpret_cast<std::uint16_t*>(tensor)[index] = to_bf16(value);
  }
}

}  // namespace parbench::emulation
