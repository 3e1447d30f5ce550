// Elementary functions that the compiler can vectorise within loops. Except for `sine_of`, they
// accept all f32 values. Sources that use them are compiled with -fno-trapping-math and
// -fno-math-errno (kernels/cpu/CMakeLists.txt).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace parbench::cpu {

/// Returns 2^n for n in [-126, 127].
[[gnu::always_inline]] inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

/// Returns e^x within 2 units in the last place, also if the result is infinite or subnormal. Cody
/// and Waite's reduction, and the polynomial of Moshier's Cephes library (expf.c).
[[gnu::always_inline]] inline float exponential_of(float x) {
  constexpr float min = -104.0F;           // e^x rounds to 0 here and below
  constexpr float max = 89.0F;             // e^x rounds to infinity here and above
  constexpr float rounding = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
  x = x < min ? min : x;
  x = x > max ? max : x;
  const float shifted = x * 1.44269504F + rounding;
  const float n = shifted - rounding;
  const float r = x - n * 0.693359375F - n * -2.12194440e-4F;
  float polynomial = 1.9875691500e-4F;
  polynomial = polynomial * r + 1.3981999507e-3F;
  polynomial = polynomial * r + 8.3334519073e-3F;
  polynomial = polynomial * r + 4.1665795894e-2F;
  polynomial = polynomial * r + 1.6666665459e-1F;
  polynomial = polynomial * r + 5.0000001201e-1F;
  polynomial = polynomial * r * r + r + 1.0F;
  const std::int32_t exponent =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(rounding);
  const std::int32_t half = exponent >> 1;  // 2^exponent may be out of range of normal numbers
  return polynomial * power_of_two(half) * power_of_two(exponent - half);
}

/// Returns the natural logarithm within 2 units in the last place, by the polynomial of Cephes
/// (logf.c) for log(1 + m) with 1 + m in [√½, √2).
[[gnu::always_inline]] inline float logarithm_of(float x) {
  const bool is_small = x < std::numeric_limits<float>::min();
  const float scaled = is_small ? x * 0x1p23F : x;
  const auto bits = std::bit_cast<std::uint32_t>(scaled);
  constexpr std::uint32_t sqrt_half = 0x3F3504F3;
  const std::int32_t exponent = static_cast<std::int32_t>(bits - sqrt_half) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(exponent) << 23U)) - 1.0F;
  const float n = static_cast<float>(exponent) - (is_small ? 23.0F : 0.0F);
  float p = 7.0376836292e-2F;
  p = p * m - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  const float square = m * m;
  const float low = p * m * square + n * -2.12194440e-4F - 0.5F * square;
  const float result = low + m + n * 0.693359375F;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float outside = x == 0.0F ? -infinity : x == infinity ? infinity : nan;
  return x > 0.0F && x < infinity ? result : outside;
}

/// Largest angle of `sine_of`: the reduction of larger angles is not accurate enough.
inline constexpr float max_reduced_angle = 1e5F;

/// Returns sin(x + quadrants·π/2) within 2 units in the last place for |x| ≤ max_reduced_angle. The
/// angle is reduced to [−π/4, π/4] in double. As in fdlibm, π/2 is the sum of two numbers, and
/// products with the first number are exact. The polynomials are from Cephes (sinf.c).
[[gnu::always_inline]] inline float sine_of(float x, std::uint64_t quadrants) {
  constexpr double rounding = 6755399441055744.0;  // 1.5 · 2^52
  const double shifted = static_cast<double>(x) * 0.63661977236758134308 + rounding;
  const double n = shifted - rounding;
  const auto r = static_cast<float>(static_cast<double>(x) - n * 1.57079632673412561417 -
                                    n * 6.07710050650619224932e-11);
  const auto quadrant =
      static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted) + quadrants);
  const float z = r * r;
  const float sine =
      ((-1.9515295891e-4F * z + 8.3321608736e-3F) * z - 1.6666654611e-1F) * z * r + r;
  const float cosine =
      ((2.443315711809948e-5F * z - 1.388731625493765e-3F) * z + 4.166664568298827e-2F) * z * z -
      0.5F * z + 1.0F;
  const float value = (quadrant & 1U) != 0 ? cosine : sine;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ ((quadrant & 2U) << 30U));
}

/// Returns tanh x within 2 units in the last place; around 0 by the polynomial of Cephes (tanhf.c).
[[gnu::always_inline]] inline float tanh_of(float x) {
  const float magnitude = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU);
  const float square = x * x;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float near = p * square * x + x;
  const float far = 1.0F - 2.0F / (exponential_of(2.0F * magnitude) + 1.0F);
  return magnitude < 0.625F ? near : x < 0.0F ? -far : far;
}

/// Returns the error function within 2 units in the last place: an odd polynomial around 0,
/// elsewhere 1 − e^p for a polynomial p; both are minimax approximations.
[[gnu::always_inline]] inline float error_function_of(float x) {
  const float absolute = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU);
  const float t = absolute > 4.0F ? 4.0F : absolute;
  const float s = t * t;
  float far = -1.72853470e-5F * t + 3.83197126e-4F;
  far = far * s + (-3.88396438e-3F * t + 2.42546219e-2F);
  far = far * t - 1.06777877e-1F;
  far = far * t - 6.34846687e-1F;
  far = far * t - 1.28717512e-1F;
  far = far * t - t;
  far = 1.0F - exponential_of(far);
  float near = -5.96761703e-4F;
  near = near * s + 4.99119423e-3F;
  near = near * s - 2.67681349e-2F;
  near = near * s + 1.12819925e-1F;
  near = near * s - 3.76125336e-1F;
  near = near * s + 1.28379166e-1F;
  near = near * x + x;
  return absolute <= 0.927734375F ? near : x < 0.0F ? -far : far;
}

}  // namespace parbench::cpu
