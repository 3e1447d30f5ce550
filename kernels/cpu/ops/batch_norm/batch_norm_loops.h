// Batch normalisation over rows of channels, for images with channels last. Every function reads
// each of its tensors from memory once. `Element` is float or std::uint16_t (bf16). Values per
// channel are f32; the number of channels is a multiple of 8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/ops/pixel_rows.h"

namespace parbench::cpu {

/// Returns the bytes of scratch memory that `moments` and `gradient_sums` need.
[[nodiscard]] std::size_t sums_bytes(const PixelRows& pixels);

/// Computes mean and biased variance of each channel.
template <class Element>
void moments(float* mean, float* variance, const Element* source, const PixelRows& pixels,
             std::byte* scratch, int threads);

/// destination = (source − mean) · factor + shift [+ addend], with one value of each per channel.
/// With a mask the result is clamped at zero, and the bits of the positive elements are set in the
/// mask.
template <class Element>
struct Normalisation {
  Element* destination;
  std::uint8_t* mask;  // null: no clamp
  const Element* source;
  const Element* addend;  // null: none; needs a mask
  const float* mean;
  const float* factor;
  const float* shift;
};

template <class Element>
void normalise(const Normalisation<Element>& tensors, const PixelRows& pixels, int threads);

/// Inputs of a backward pass. With a mask (not null), elements of `gradient` whose bit is not set
/// count as 0.
template <class Element>
struct NormGradient {
  const Element* gradient;
  const std::uint8_t* mask;
  const Element* source;
  const float* mean;
};

/// sums = Σ gradient, products = Σ gradient · (source − mean), for each channel.
template <class Element>
void gradient_sums(float* sums, float* products, const NormGradient<Element>& tensors,
                   const PixelRows& pixels, std::byte* scratch, int threads);

/// Coefficients of `source_gradient`, one of each per channel.
struct GradientFactors {
  const float* gradient;
  const float* distance;  // factor of source − mean
  const float* offset;
};

/// diff_source = factors.gradient · gradient + factors.distance · (source − mean) + factors.offset.
/// `diff_source` may be the gradient's memory.
template <class Element>
void source_gradient(Element* diff_source, const NormGradient<Element>& tensors,
                     const GradientFactors& factors, const PixelRows& pixels, int threads);

}  // namespace parbench::cpu
