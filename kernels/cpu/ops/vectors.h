// Vectors of 16 elements as f32, for loops that are compiled once per instruction set
// (PARBENCH_SIMD). Vectors are passed by reference, because the convention for passing them by
// value depends on the instruction set.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "kernels/base/bfloat16.h"

namespace parbench::cpu {

inline constexpr std::size_t lanes = 16;

using Floats [[gnu::vector_size(64)]] = float;
using Words [[gnu::vector_size(64)]] = std::uint32_t;
/// Each element is 0 or all ones: the result of a comparison.
using Selection [[gnu::vector_size(64)]] = std::int32_t;
using Halves [[gnu::vector_size(32)]] = std::uint16_t;
using Bytes [[gnu::vector_size(16)]] = std::int8_t;

/// Vectors in memory with the alignment of an element.
using StoredFloats [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
using StoredHalves [[gnu::vector_size(32), gnu::aligned(2), gnu::may_alias]] = std::uint16_t;

// Functions for single elements, such as the rest after the last whole vector.
[[nodiscard]] inline float widened(float value) { return value; }
[[nodiscard]] inline float widened(std::uint16_t value) { return from_bf16(value); }
inline void round_to(float& element, float value) { element = value; }
inline void round_to(std::uint16_t& element, float value) { element = to_bf16(value); }

[[gnu::always_inline]] inline void load(Floats& values, const float* address) {
  values = *reinterpret_cast<const StoredFloats*>(address);
}

[[gnu::always_inline]] inline void load(Floats& values, const std::uint16_t* address) {
  const Halves halves = *reinterpret_cast<const StoredHalves*>(address);
  const Words words = __builtin_convertvector(halves, Words) << 16U;
  values = reinterpret_cast<Floats>(words);
}

[[gnu::always_inline]] inline void store(float* address, const Floats& values) {
  *reinterpret_cast<StoredFloats*>(address) = values;
}

/// Rounds to bf16 as `to_bf16` does: to the nearest, ties to even; a NaN stays a NaN.
[[gnu::always_inline]] inline void store(std::uint16_t* address, const Floats& values) {
  const auto bits = reinterpret_cast<Words>(values);
  const Words rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  const Words quiet_nan = (bits >> 16U) | 0x40U;
  const Words nearest = values == values ? rounded : quiet_nan;
  *reinterpret_cast<StoredHalves*>(address) = __builtin_convertvector(nearest, Halves);
}

/// Writes two bytes of a mask: bit i is set if lane i is selected.
[[gnu::always_inline]] inline void set_bits(std::uint8_t* mask, const Selection& selection) {
  const Bytes bytes = __builtin_convertvector(selection, Bytes);
#if defined(__SSE2__)
  const int bits = _mm_movemask_epi8(reinterpret_cast<__m128i>(bytes));
#else
  unsigned bits = 0;
  for (std::size_t i = 0; i < lanes; ++i) bits |= bytes[i] != 0 ? 1U << i : 0U;
#endif
  mask[0] = static_cast<std::uint8_t>(bits);
  mask[1] = static_cast<std::uint8_t>(bits >> 8);
}

/// Expands two bytes of a mask to a selection: lane i is all ones if bit i is set.
[[gnu::always_inline]] inline void get_bits(Selection& selection, const std::uint8_t* mask) {
  constexpr Words lane{1U << 0U,  1U << 1U,  1U << 2U,  1U << 3U, 1U << 4U,  1U << 5U,
                       1U << 6U,  1U << 7U,  1U << 8U,  1U << 9U, 1U << 10U, 1U << 11U,
                       1U << 12U, 1U << 13U, 1U << 14U, 1U << 15U};
  selection = (lane & (mask[0] | static_cast<unsigned>(mask[1]) << 8U)) != 0U;
}

}  // namespace parbench::cpu
