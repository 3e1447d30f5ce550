// Loops over flat memory for operations that oneDNN lacks: vectorised, in the stream's team.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parbench::cpu {

/// Returns the f32 elements of an argument or of scratch memory, which is aligned for them.
inline float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

/// destination += source.
void accumulate(float* destination, const float* source, std::size_t count, int threads);

/// parameters −= rate · gradients.
void descend(float* parameters, const float* gradients, float rate, std::size_t count, int threads);

/// Returns the bytes of a mask of `count` elements. Element i has bit i % 8 of byte i / 8.
constexpr std::size_t mask_bytes(std::size_t count) { return (count + 7) / 8; }

/// destination = max(destination + addend, 0); a NaN stays a NaN. Sets the bits of the positive
/// elements in `mask`; all other bits become 0.
void add_relu(float* destination, std::uint8_t* mask, const float* addend, std::size_t count,
              int threads);
/// Overload for bf16; the sum is computed in f32.
void add_relu(std::uint16_t* destination, std::uint8_t* mask, const std::uint16_t* addend,
              std::size_t count, int threads);

/// out = a [+ b] where the bit in the mask is set, otherwise 0. `b` may be null; `out` may be `a`
/// or `b`.
void masked_sum(float* out, const std::uint8_t* mask, const float* a, const float* b,
                std::size_t count, int threads);
/// Overload for bf16; the sum is computed in f32.
void masked_sum(std::uint16_t* out, const std::uint8_t* mask, const std::uint16_t* a,
                const std::uint16_t* b, std::size_t count, int threads);

/// Number of elements per partial sum of `squared_error`.
inline constexpr std::size_t error_block = 4096;

/// difference = scale · (prediction − target); `partial_sums` gets Σ(prediction − target)² of every
/// `error_block` elements, so that the total does not depend on the number of threads.
void squared_error(float* difference, double* partial_sums, const float* prediction,
                   const float* target, float scale, std::size_t count, int threads);
void squared_error(std::uint16_t* difference, double* partial_sums, const std::uint16_t* prediction,
                   const std::uint16_t* target, float scale, std::size_t count, int threads);

/// destination = source + addend, for `repeats` rows of `count` elements with one addend. The
/// destination may be the source.
void add_repeated(float* destination, const float* source, const float* addend, std::size_t repeats,
                  std::size_t count, int threads);
void add_repeated(std::uint16_t* destination, const std::uint16_t* source,
                  const std::uint16_t* addend, std::size_t repeats, std::size_t count, int threads);
void add_repeated(std::uint16_t* destination, const std::uint16_t* source, const float* addend,
                  std::size_t repeats, std::size_t count, int threads);

/// sums [+]= Σ over `repeats` rows of `count` elements, in the order of the rows.
void sum_repeats(float* sums, const float* rows, std::size_t repeats, std::size_t count,
                 bool accumulate, int threads);
void sum_repeats(float* sums, const std::uint16_t* rows, std::size_t repeats, std::size_t count,
                 bool accumulate, int threads);

/// Converts f32 to bf16.
void narrow(std::uint16_t* destination, const float* source, std::size_t count);

}  // namespace parbench::cpu
