// Loops over groups of channels whose values stay in registers, in chunks of rows that stay in the
// cache.
#include "kernels/cpu/ops/batch_norm/batch_norm_loops.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t max_vectors = 4;  // vectors of channels that one loop processes together

// A chunk is processed in groups of channels. A template's `vectors` is the number of vectors in a
// group, which begins with channel `first`; `width` is the number of lanes of a vector that hold
// channels, all or the lower half.

constexpr std::size_t half = lanes / 2;
using HalfFloats [[gnu::vector_size(32)]] = float;
using HalfWords [[gnu::vector_size(32)]] = std::uint32_t;
using StoredHalfFloats [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
using StoredHalfHalves [[gnu::vector_size(16), gnu::aligned(2), gnu::may_alias]] = std::uint16_t;

[[gnu::always_inline]] inline void load_half(HalfFloats& values, const float* address) {
  values = *reinterpret_cast<const StoredHalfFloats*>(address);
}

[[gnu::always_inline]] inline void load_half(HalfFloats& values, const std::uint16_t* address) {
  const auto halves = *reinterpret_cast<const StoredHalfHalves*>(address);
  const HalfWords words = __builtin_convertvector(halves, HalfWords) << 16U;
  values = reinterpret_cast<HalfFloats>(words);
}

/// Loads `width` elements; the other lanes are zero.
template <std::size_t width, class Element>
[[gnu::always_inline]] inline void load(Floats& values, const Element* address) {
  if constexpr (width == lanes) {
    parbench::cpu::load(values, address);
  } else {
    HalfFloats low;
    load_half(low, address);
    values = __builtin_shufflevector(low, HalfFloats{}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                     13, 14, 15);
  }
}

template <std::size_t width, class Element>
[[gnu::always_inline]] inline void store(Element* address, const Floats& values) {
  if constexpr (width == lanes) {
    parbench::cpu::store(address, values);
  } else {
    std::array<Element, lanes> all;
    parbench::cpu::store(all.data(), values);
    std::copy_n(all.data(), width, address);
  }
}

template <std::size_t width>
[[gnu::always_inline]] inline void set_bits(std::uint8_t* mask, const Selection& selection) {
  std::array<std::uint8_t, lanes / 8> all;
  parbench::cpu::set_bits(all.data(), selection);
  std::copy_n(all.data(), width / 8, mask);
}

template <std::size_t width>
[[gnu::always_inline]] inline void get_bits(Selection& selection, const std::uint8_t* mask) {
  std::array<std::uint8_t, lanes / 8> all{};
  std::copy_n(mask, width / 8, all.data());
  parbench::cpu::get_bits(selection, all.data());
}

/// Values of MomentsChunk per channel: an approximate mean of the chunk's rows, and the sums of the
/// distances from that mean and of their squares.
enum Moment : std::size_t { near_mean, distances, squares, moment_count };

template <class Element>
struct MomentsChunk {
  const Element* source;
  float* moments;  // one array of all channels for each Moment
  PixelRows pixels;
};

// Reads the rows twice, the second time from the cache.
template <std::size_t vectors, std::size_t width, class Element>
[[gnu::always_inline]] inline void run_group(const MomentsChunk<Element>& chunk,
                                             std::size_t first) {
  const Element* source = chunk.source + first;
  const std::size_t channels = chunk.pixels.channels;
  Floats mean[vectors] = {};
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      Floats x;
      load<width>(x, source + i * channels + v * lanes);
      mean[v] += x;
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) mean[v] /= static_cast<float>(chunk.pixels.rows);
  Floats sums[vectors] = {};
  Floats sums_of_squares[vectors] = {};
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      Floats x;
      load<width>(x, source + i * channels + v * lanes);
      x -= mean[v];
      sums[v] += x;
      sums_of_squares[v] += x * x;
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    float* moments = chunk.moments + first + v * lanes;
    store<width>(moments + near_mean * channels, mean[v]);
    store<width>(moments + distances * channels, sums[v]);
    store<width>(moments + squares * channels, sums_of_squares[v]);
  }
}

template <class Element>
struct NormalisationChunk {
  Normalisation<Element> tensors;  // pointers to the chunk's first element
  PixelRows pixels;
};

template <std::size_t vectors, std::size_t width, bool clamps, bool adds, class Element>
[[gnu::always_inline]] inline void normalise_group(const NormalisationChunk<Element>& chunk,
                                                   std::size_t first) {
  const Normalisation<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats factor[vectors];
  Floats shift[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    load<width>(mean[v], t.mean + first + v * lanes);
    load<width>(factor[v], t.factor + first + v * lanes);
    load<width>(shift[v], t.shift + first + v * lanes);
  }
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats x;
      load<width>(x, t.source + at);
      x = (x - mean[v]) * factor[v] + shift[v];
      if constexpr (adds) {
        Floats addend;
        load<width>(addend, t.addend + at);
        x += addend;
      }
      if constexpr (clamps) {
        set_bits<width>(t.mask + at / 8, x > 0.0F);
        x = x <= 0.0F ? 0.0F : x;
      }
      store<width>(t.destination + at, x);
    }
  }
}

template <std::size_t vectors, std::size_t width, class Element>
[[gnu::always_inline]] inline void run_group(const NormalisationChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.addend != nullptr) {
    normalise_group<vectors, width, true, true>(chunk, first);
  } else if (chunk.tensors.mask != nullptr) {
    normalise_group<vectors, width, true, false>(chunk, first);
  } else {
    normalise_group<vectors, width, false, false>(chunk, first);
  }
}

template <class Element>
struct GradientSumsChunk {
  NormGradient<Element> tensors;
  float* sums;
  PixelRows pixels;
};

/// Loads `width` elements of the gradient; if `masked`, zeros where the bit of the mask is not set.
template <std::size_t width, bool masked, class Element>
[[gnu::always_inline]] inline void load_gradient(Floats& gradient, const NormGradient<Element>& t,
                                                 std::size_t at) {
  load<width>(gradient, t.gradient + at);
  if constexpr (masked) {
    Selection counts;
    get_bits<width>(counts, t.mask + at / 8);
    gradient = counts ? gradient : 0.0F;
  }
}

template <std::size_t vectors, std::size_t width, bool masked, class Element>
[[gnu::always_inline]] inline void sum_group(const GradientSumsChunk<Element>& chunk,
                                             std::size_t first) {
  const NormGradient<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats sums[vectors] = {};
  Floats products[vectors] = {};
  for (std::size_t v = 0; v < vectors; ++v) load<width>(mean[v], t.mean + first + v * lanes);
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats gradient;
      load_gradient<width, masked>(gradient, t, at);
      Floats x;
      load<width>(x, t.source + at);
      sums[v] += gradient;
      products[v] += gradient * (x - mean[v]);
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    store<width>(chunk.sums + first + v * lanes, sums[v]);
    store<width>(chunk.sums + chunk.pixels.channels + first + v * lanes, products[v]);
  }
}

template <std::size_t vectors, std::size_t width, class Element>
[[gnu::always_inline]] inline void run_group(const GradientSumsChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.mask != nullptr) {
    sum_group<vectors, width, true>(chunk, first);
  } else {
    sum_group<vectors, width, false>(chunk, first);
  }
}

template <class Element>
struct SourceGradientChunk {
  Element* diff_source;
  NormGradient<Element> tensors;
  GradientFactors factors;
  PixelRows pixels;
};

template <std::size_t vectors, std::size_t width, bool masked, class Element>
[[gnu::always_inline]] inline void gradient_group(const SourceGradientChunk<Element>& chunk,
                                                  std::size_t first) {
  const NormGradient<Element>& t = chunk.tensors;
  Floats mean[vectors];
  Floats of_gradient[vectors];
  Floats of_distance[vectors];
  Floats offset[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    load<width>(mean[v], t.mean + first + v * lanes);
    load<width>(of_gradient[v], chunk.factors.gradient + first + v * lanes);
    load<width>(of_distance[v], chunk.factors.distance + first + v * lanes);
    load<width>(offset[v], chunk.factors.offset + first + v * lanes);
  }
  for (std::size_t i = 0; i < chunk.pixels.rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * chunk.pixels.channels + first + v * lanes;
      Floats gradient;
      load_gradient<width, masked>(gradient, t, at);
      Floats x;
      load<width>(x, t.source + at);
      store<width>(chunk.diff_source + at,
                   gradient * of_gradient[v] + ((x - mean[v]) * of_distance[v] + offset[v]));
    }
  }
}

template <std::size_t vectors, std::size_t width, class Element>
[[gnu::always_inline]] inline void run_group(const SourceGradientChunk<Element>& chunk,
                                             std::size_t first) {
  if (chunk.tensors.mask != nullptr) {
    gradient_group<vectors, width, true>(chunk, first);
  } else {
    gradient_group<vectors, width, false>(chunk, first);
  }
}

template <class Chunk>
[[gnu::always_inline]] inline void run_groups(const Chunk& chunk) {
  std::size_t first = 0;
  for (; first + max_vectors * lanes <= chunk.pixels.channels; first += max_vectors * lanes) {
    run_group<max_vectors, lanes>(chunk, first);
  }
  for (; first + lanes <= chunk.pixels.channels; first += lanes) run_group<1, lanes>(chunk, first);
  if (first < chunk.pixels.channels) run_group<1, half>(chunk, first);
}

using Bf16 = std::uint16_t;

PARBENCH_SIMD void run(const MomentsChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const MomentsChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const NormalisationChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const NormalisationChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const GradientSumsChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const GradientSumsChunk<Bf16>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const SourceGradientChunk<float>& chunk) { run_groups(chunk); }
PARBENCH_SIMD void run(const SourceGradientChunk<Bf16>& chunk) { run_groups(chunk); }

template <class Element>
NormGradient<Element> from(const NormGradient<Element>& tensors, std::size_t element) {
  return {.gradient = tensors.gradient + element,
          .mask = tensors.mask == nullptr ? nullptr : tensors.mask + element / 8,
          .source = tensors.source + element,
          .mean = tensors.mean};
}

}  // namespace

// The scratch memory has the totals of channels in f64, and after them the sums of chunks.
std::size_t sums_bytes(const PixelRows& pixels) {
  return pixels.channels * (sizeof(double) + pixels.chunks() * moment_count * sizeof(float));
}

// Chan, Golub, LeVeque 1979: "Updating formulae and a pairwise algorithm for computing sample
// variances": the sum of squared distances from the common mean is the sum of squared distances
// from the mean of the chunk, plus the number of rows times the squared distance of the two means.
template <class Element>
void moments(float* mean, float* variance, const Element* source, const PixelRows& pixels,
             std::byte* scratch, int threads) {
  auto* totals = reinterpret_cast<double*>(scratch);
  auto* of_chunks = reinterpret_cast<float*>(totals + pixels.channels);
  const std::size_t stride = moment_count * pixels.channels;
  for_chunks(pixels, threads, [&](std::size_t number, std::size_t first, const PixelRows& rows) {
    run(MomentsChunk<Element>{source + first, of_chunks + number * stride, rows});
  });
  const auto for_means = [&](const auto& body) {
    for (std::size_t number = 0; number < pixels.chunks(); ++number) {
      const float* moments = of_chunks + number * stride;
      const auto rows = static_cast<double>(
          std::min(pixels.of_chunk(), pixels.rows - number * pixels.of_chunk()));
      for (std::size_t c = 0; c < pixels.channels; ++c) {
        const double sum = moments[distances * pixels.channels + c];
        body(c, rows, moments[near_mean * pixels.channels + c] + sum / rows,
             moments[squares * pixels.channels + c] - sum * sum / rows);
      }
    }
  };
  const auto count = static_cast<double>(pixels.rows);
  std::fill_n(totals, pixels.channels, 0.0);
  for_means([&](std::size_t c, double rows, double of_chunk, double) {
    totals[c] += rows * of_chunk / count;
  });
  for (std::size_t c = 0; c < pixels.channels; ++c) mean[c] = static_cast<float>(totals[c]);
  std::fill_n(totals, pixels.channels, 0.0);
  for_means([&](std::size_t c, double rows, double of_chunk, double around_it) {
    const double distance = of_chunk - mean[c];
    totals[c] += around_it + rows * distance * distance;
  });
  for (std::size_t c = 0; c < pixels.channels; ++c) {
    variance[c] = static_cast<float>(std::max(totals[c] / count, 0.0));
  }
}

template <class Element>
void normalise(const Normalisation<Element>& tensors, const PixelRows& pixels, int threads) {
  for_chunks(pixels, threads, [&](std::size_t, std::size_t first, const PixelRows& rows) {
    Normalisation<Element> part = tensors;
    part.destination += first;
    part.source += first;
    if (part.mask != nullptr) part.mask += first / 8;
    if (part.addend != nullptr) part.addend += first;
    run(NormalisationChunk<Element>{part, rows});
  });
}

template <class Element>
void gradient_sums(float* sums, float* products, const NormGradient<Element>& tensors,
                   const PixelRows& pixels, std::byte* scratch, int threads) {
  auto* totals = reinterpret_cast<double*>(scratch);
  auto* of_chunks = reinterpret_cast<float*>(totals + pixels.channels);
  const std::size_t stride = 2 * pixels.channels;
  for_chunks(pixels, threads, [&](std::size_t number, std::size_t first, const PixelRows& rows) {
    run(GradientSumsChunk<Element>{from(tensors, first), of_chunks + number * stride, rows});
  });
  for (float* results : {sums, products}) {
    add_chunks(totals, of_chunks, stride, pixels);
    std::transform(totals, totals + pixels.channels, results,
                   [](double total) { return static_cast<float>(total); });
    of_chunks += pixels.channels;
  }
}

template <class Element>
void source_gradient(Element* diff_source, const NormGradient<Element>& tensors,
                     const GradientFactors& factors, const PixelRows& pixels, int threads) {
  for_chunks(pixels, threads, [&](std::size_t, std::size_t first, const PixelRows& rows) {
    run(SourceGradientChunk<Element>{diff_source + first, from(tensors, first), factors, rows});
  });
}

template void moments(float*, float*, const float*, const PixelRows&, std::byte*, int);
template void moments(float*, float*, const Bf16*, const PixelRows&, std::byte*, int);
template void normalise(const Normalisation<float>&, const PixelRows&, int);
template void normalise(const Normalisation<Bf16>&, const PixelRows&, int);
template void gradient_sums(float*, float*, const NormGradient<float>&, const PixelRows&,
                            std::byte*, int);
template void gradient_sums(float*, float*, const NormGradient<Bf16>&, const PixelRows&, std::byte*,
                            int);
template void source_gradient(float*, const NormGradient<float>&, const GradientFactors&,
                              const PixelRows&, int);
template void source_gradient(Bf16*, const NormGradient<Bf16>&, const GradientFactors&,
                              const PixelRows&, int);

}  // namespace parbench::cpu
