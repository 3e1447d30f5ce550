// Functions that the compiler can vectorise within loops, unlike functions of the C library.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/base/bfloat16.h"

namespace parbench::cpu {

/// Returns e^x for x up to 88, within 2 units in the last place. Below −87 the result is e^−87,
/// which is 1.6e-38. A NaN stays a NaN.
///
/// Sources that use this function are compiled with -fno-trapping-math
/// (kernels/cpu/CMakeLists.txt); without it, GCC vectorises the function's condition for AVX-512
/// only.
///
/// The method: Cody and Waite's reduction, x = n·ln 2 + r with |r| ≤ ln 2 / 2, and the polynomial
/// of Moshier's Cephes library (expf.c) for e^r.
[[gnu::always_inline]] inline float vector_exp(float x) {
  constexpr float min = -87.0F;  // keeps e^x a normal number
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693359375F;  // has few bits, so that n · ln2_high is exact
  constexpr float ln2_low = -2.12194440e-4F;
  constexpr float rounding = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
  x = x < min ? min : x;
  const float shifted = x * log2_e + rounding;
  const float n = shifted - rounding;
  const float r = x - n * ln2_high - n * ln2_low;
  float polynomial = 1.9875691500e-4F;
  polynomial = polynomial * r + 1.3981999507e-3F;
  polynomial = polynomial * r + 8.3334519073e-3F;
  polynomial = polynomial * r + 4.1665795894e-2F;
  polynomial = polynomial * r + 1.6666665459e-1F;
  polynomial = polynomial * r + 5.0000001201e-1F;
  polynomial = polynomial * r * r + r + 1.0F;
  const std::uint32_t exponent =
      std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(rounding) + 127U;
  return polynomial * std::bit_cast<float>(exponent << 23U);
}

/// Convert between elements and f32, for loops over both types.
[[gnu::always_inline]] inline float to_f32(float value) { return value; }
[[gnu::always_inline]] inline float to_f32(std::uint16_t value) { return from_bf16(value); }
[[gnu::always_inline]] inline void set_element(float& element, float value) { element = value; }
[[gnu::always_inline]] inline void set_element(std::uint16_t& element, float value) {
  element = to_bf16(value);
}

}  // namespace parbench::cpu
