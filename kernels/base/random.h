// Generator of all random data: counter-based, so that every backend and any number of threads draw
// the same values.
//
// The value at index i of a tensor depends on (seed, subsequence, i) only. The random words come
// from Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC11) with counter {i/4 low, i/4 high, subsequence low, subsequence high} and key {seed low, seed
// high}; they form blocks of four.
// - uniform: word w = i mod 4 of the block gives u = (w >> 8)·2^-24; the value is low + (high −
//   low)·u. The difference is rounded to f32, the product is exact in f64, and the sum is rounded
//   to f32 and limited to the largest number below `high`.
// - normal (Box, Muller 1958): words (a, b) at i mod 4 = 0, 1 or 2, 3 give r = sqrt(−2·ln((a +
//   0.5)·2^-32)) and the angle 2π·b·2^-32; the even index gets r·cos, the odd one r·sin. The
//   functions below need no mathematics library: they compute f32 polynomials and a square root.
//   Results differ between backends in the last bits if a compiler fuses multiplications and
//   additions.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#ifdef __CUDACC__
#define PARBENCH_HOST_DEVICE __host__ __device__
#else
#define PARBENCH_HOST_DEVICE
#endif

namespace parbench {

struct RandomWords {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  std::uint32_t w = 0;
  friend bool operator==(const RandomWords&, const RandomWords&) = default;
};

/// Selects the numbers that are drawn. Numbers of different subsequences are independent.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;
};

PARBENCH_HOST_DEVICE inline std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
PARBENCH_HOST_DEVICE inline std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32U);
}

/// Returns the words of Philox4x32 with ten rounds.
PARBENCH_HOST_DEVICE inline RandomWords philox(RandomWords counter, std::uint64_t key) {
  std::uint32_t key0 = low_word(key);
  std::uint32_t key1 = high_word(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter.x;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter.z;
    counter = {high_word(second) ^ counter.y ^ key0, low_word(second),
               high_word(first) ^ counter.w ^ key1, low_word(first)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// Returns the four random words from which the values 4·block to 4·block + 3 are computed.
PARBENCH_HOST_DEVICE inline RandomWords random_words(RandomStream stream, std::uint64_t block) {
  return philox({low_word(block), high_word(block), low_word(stream.subsequence),
                 high_word(stream.subsequence)},
                stream.seed);
}

/// Constants with which `uniform_value` draws numbers from [low, high).
struct UniformRange {
  float low = 0;
  float width = 1;
  float last = 1;  // the largest value below `high`; `low` when the range is empty
};
[[nodiscard]] UniformRange uniform_range(float low, float high);

PARBENCH_HOST_DEVICE inline float uniform_value(std::uint32_t word, UniformRange range) {
  const double fraction = static_cast<double>(static_cast<std::int32_t>(word >> 8U)) * 0x1p-24;
  const auto value = static_cast<float>(range.low + static_cast<double>(range.width) * fraction);
  return value < range.last ? value : range.last;
}

/// Returns ln(x) for a positive, normal x: x = 2^e·m with m in [sqrt(1/2), sqrt(2)), and ln(m) =
/// 2·artanh(s) with s = (m − 1)/(m + 1), by the series of artanh.
PARBENCH_HOST_DEVICE inline float natural_logarithm(float x) {
  constexpr std::int32_t bits_of_sqrt_half = 0x3F3504F3;
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t exponent = (bits - bits_of_sqrt_half) >> 23;
  const auto mantissa = std::bit_cast<float>(bits - exponent * (1 << 23));
  const float s = (mantissa - 1.0F) / (mantissa + 1.0F);
  const float q = s * s;
  const float series = 1.0F + q * (1.0F / 3 + q * (1.0F / 5 + q * (1.0F / 7 + q * (1.0F / 9))));
  return static_cast<float>(exponent) * 0.693147181F + 2.0F * s * series;
}

struct Direction {
  float cosine = 1;
  float sine = 0;
};

/// Returns the cosine and the sine of 2π·turn·2^-32. Splits the angle into the nearest quarter turn
/// and a rest within ±π/4, of which it computes the Taylor series.
PARBENCH_HOST_DEVICE inline Direction direction(std::uint32_t turn) {
  const std::uint32_t quarter = (turn + (1U << 29U)) >> 30U;
  const auto rest = static_cast<std::int32_t>(turn - (quarter << 30U));
  const float y = static_cast<float>(rest) * 1.46291808e-9F;  // 2π·2^-32
  const float q = y * y;
  const float sine =
      y * (1.0F + q * (-1.0F / 6 + q * (1.0F / 120 + q * (-1.0F / 5040 + q / 362880.0F))));
  const float cosine =
      1.0F +
      q * (-1.0F / 2 + q * (1.0F / 24 + q * (-1.0F / 720 + q * (1.0F / 40320 - q / 3628800.0F))));
  const bool swapped = (quarter & 1U) != 0;
  const float c = swapped ? sine : cosine;
  const float s = swapped ? cosine : sine;
  return {((quarter + 1U) & 2U) != 0 ? -c : c, (quarter & 2U) != 0 ? -s : s};
}

struct NormalPair {
  float even = 0;
  float odd = 0;
};

/// Returns two independent standard normal values.
PARBENCH_HOST_DEVICE inline NormalPair normal_pair(std::uint32_t a, std::uint32_t b) {
  const float uniform = (static_cast<float>(a) + 0.5F) * 0x1p-32F;
  const float radius = __builtin_sqrtf(-2.0F * natural_logarithm(uniform));
  const Direction towards = direction(b);
  return {radius * towards.cosine, radius * towards.sine};
}

/// Fill `out` with the values from index `first` on, which must be a multiple of 4. The bits do not
/// depend on the processor's instruction set.
void generate_uniform(std::span<float> out, std::uint64_t first, RandomStream stream, float low,
                      float high);
void generate_normal(std::span<float> out, std::uint64_t first, RandomStream stream, float mean,
                     float standard_deviation);

}  // namespace parbench
